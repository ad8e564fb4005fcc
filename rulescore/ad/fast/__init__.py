"""Short cuts, which override the engine and the tracers, mean the same, and can be left out (`AD.short_cuts`).

What each is worth, as the factor by which a gradient takes longer without it: medians of seven rounds in turns.

================================================ =====================================================================
elementwise functions by tables (`recording`)    3.3 chain of sines, 6 products, 7 sums, 12 a loop over numbers
derivatives that are one ufunc of the argument   1.2 chain of sines
static forms of one array, of two (`recording`)  1.3 one sine and its sum; 1.5 recurrent network of 32
items as views (`assignment.item_of`)            2.4 loop over blocks, 1.9 Rosenbrock's function in a loop
assignments in place (`assignment`)              2.0 fifty elements, 1.3 in forward mode; n of them cost n², without
copies of small parts (`assignment.Assigned`)    1.05 a thousand rows of three numbers; n² again, without
calls with one traced argument (`tape`)          1.05 to 1.13 for `np.cumsum`, `np.linalg.inv`, indexing by arrays
the same tables for variables (`graph`)          3.7 chain of sines, 5 products, 7 sums
================================================ =====================================================================
"""
