"""nibabel: the geometry of medical images."""

from nibabel import affines, eulerangles, quaternions

AFFINE = ((2.0, 0.1, 0.0, -10.0), (0.2, 2.1, 0.1, 5.0), (0.0, 0.3, 3.0, 7.0), (0.0, 0.0, 0.0, 1.0))


def applied(affine=AFFINE, points=((1.0, 2.0, 3.0), (4.0, 5.0, 6.0))):
    """nibabel.affines.apply_affine"""
    return affines.apply_affine(affine, points)


def voxel_sizes(affine=AFFINE):
    """nibabel.affines.voxel_sizes"""
    return affines.voxel_sizes(affine)


def rescaled(affine=AFFINE):
    """nibabel.affines.rescale_affine"""
    return affines.rescale_affine(affine, (10, 10, 10), (1.0, 1.0, 1.0))


def to_matrix(q=(0.8, 0.2, 0.4, 0.4)):
    """nibabel.quaternions.quat2mat"""
    return quaternions.quat2mat(q)


def to_quaternion(z=0.1, y=0.2, x=0.3):
    """nibabel.quaternions.mat2quat"""
    return quaternions.mat2quat(eulerangles.euler2mat(z, y, x))


def obliquity(affine=AFFINE):
    """nibabel.affines.obliquity"""
    return affines.obliquity(affine)
