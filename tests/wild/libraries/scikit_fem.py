"""scikit-fem: finite elements."""

import numpy as np
import skfem
from skfem.helpers import dot, grad
from skfem.models.poisson import laplace, unit_load

MESH = skfem.MeshTri().refined(1)
VALUES = np.linspace(0.1, 0.9, MESH.nvertices)


@skfem.BilinearForm
def _diffusion(u, v, w):
    return w.k * dot(grad(u), grad(v))


def stiffness(k=1.5):
    """skfem.BilinearForm.assemble"""
    return _diffusion.assemble(skfem.Basis(MESH, skfem.ElementTriP1()), k=k).toarray()


def poisson(scale=1.3):
    """skfem.solve"""
    basis = skfem.Basis(MESH, skfem.ElementTriP2())
    return skfem.solve(*skfem.condense(scale * laplace.assemble(basis), unit_load.assemble(basis), D=basis.get_dofs()))


def projection(values=VALUES):
    """skfem.Basis.interpolate"""
    basis = skfem.Basis(MESH, skfem.ElementTriP1())
    field = basis.interpolate(values)
    return skfem.Functional(lambda w: w.u**2 + dot(grad(w.u), grad(w.u))).assemble(basis, u=field)


def moved_mesh(points=MESH.p):
    """skfem.MeshTri"""
    basis = skfem.Basis(skfem.MeshTri(points, MESH.t), skfem.ElementTriP1())
    return skfem.Functional(lambda w: w.x[0] ** 2).assemble(basis)
