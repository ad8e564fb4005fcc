#include <pybind11/numpy.h>
#include <utility>

namespace py = pybind11;
using Array = py::array_t<double, py::array::c_style | py::array::forcecast>;

// y[i] = keep y[i - 1] + (1 - keep) x[i]
Array smooth(Array x, double keep) {
    Array y(x.size());
    double last = 0.0;
    for (py::ssize_t i = 0; i < x.size(); ++i) {
        last = keep * last + (1 - keep) * x.at(i);
        y.mutable_at(i) = last;
    }
    return y;
}

// The same loop backwards.
std::pair<Array, double> smooth_pullback(Array ybar, Array x, Array y, double keep) {
    Array xbar(x.size());
    double later = 0.0, keepbar = 0.0;
    for (py::ssize_t i = x.size() - 1; i >= 0; --i) {
        later = ybar.at(i) + keep * later;
        xbar.mutable_at(i) = (1 - keep) * later;
        keepbar += later * ((i > 0 ? y.at(i - 1) : 0.0) - x.at(i));
    }
    return {xbar, keepbar};
}

PYBIND11_MODULE(smoothing, module) {
    module.def("smooth", &smooth);
    module.def("smooth_pullback", &smooth_pullback);
}
