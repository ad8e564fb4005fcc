"""anastruct: frames and trusses."""

from anastruct import SystemElements


def frame(load=10.0, EI=5000.0):
    """anastruct.SystemElements.solve"""
    system = SystemElements(EA=15000.0, EI=EI)
    system.add_element([[0, 0], [0, 5]])
    system.add_element([[0, 5], [5, 5]])
    system.add_element([[5, 5], [5, 0]])
    system.add_support_fixed(node_id=1)
    system.add_support_hinged(node_id=4)
    system.point_load(node_id=2, Fx=load)
    system.solve()
    return [[node["ux"], node["phi_z"]] for node in system.get_node_displacements()[1:3]]


def beam(q=-8.0, EI=5000.0):
    """anastruct.SystemElements.q_load"""
    system = SystemElements(EI=EI)
    system.add_element([4, 0])
    system.add_support_hinged(node_id=1)
    system.add_support_roll(node_id=2)
    system.q_load(element_id=1, q=q)
    system.solve()
    return [result["phi_z"] for result in system.get_node_displacements()]


def truss(load=-12.0, EA=15000.0):
    """anastruct.SystemElements.add_truss_element"""
    system = SystemElements(EA=EA)
    system.add_truss_element([[0, 0], [2, 2]])
    system.add_truss_element([[2, 2], [4, 0]])
    system.add_truss_element([[0, 0], [4, 0]])
    system.add_support_hinged(node_id=1)
    system.add_support_roll(node_id=3)
    system.point_load(node_id=2, Fy=load)
    system.solve()
    return [[result["Nmax"], result["umax"]] for result in system.get_element_results()]
