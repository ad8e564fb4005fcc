"""trimesh: meshes of triangles."""

import numpy as np
import trimesh
from trimesh import registration, transformations, triangles

BOX = trimesh.creation.box((1.0, 1.2, 0.8))
VERTICES = tuple(map(tuple, np.asarray(BOX.vertices)))


def volume(vertices=VERTICES):
    """trimesh.Trimesh.volume"""
    mesh = trimesh.Trimesh(vertices, BOX.faces, process=False)
    return mesh.volume, mesh.area


def normals(vertices=VERTICES):
    """trimesh.Trimesh.face_normals"""
    return trimesh.Trimesh(vertices, BOX.faces, process=False).face_normals


def inertia(vertices=VERTICES):
    """trimesh.triangles.mass_properties"""
    return triangles.mass_properties(vertices[BOX.faces]).inertia


def rotation(angle=0.4, direction=(0.3, 0.4, 0.9)):
    """trimesh.transformations.rotation_matrix"""
    return transformations.rotation_matrix(angle, direction)


def barycentric(corners=(((0.0, 0.0, 0.1), (1.0, 0.2, 0.0), (0.3, 1.2, 0.1)),), points=((0.4, 0.4, 0.1),)):
    """trimesh.triangles.points_to_barycentric"""
    return triangles.points_to_barycentric(corners, points)


def registered(points=((0.0, 0.0, 0.1), (1.0, 0.2, 0.0), (0.3, 1.2, 0.1), (1.1, 1.3, 0.9))):
    """trimesh.registration.procrustes"""
    return registration.procrustes(points, np.array([[0.1, 0, 0], [1.2, 0.1, 0.1], [0.2, 1.3, 0.3], [1.0, 1.5, 0.7]]))[
        :2
    ]


def slerp(q=(0.8, 0.2, 0.4, 0.4), fraction=0.3):
    """trimesh.transformations.quaternion_slerp"""
    return transformations.quaternion_slerp(q, [0.5, 0.5, 0.5, 0.5], fraction)
