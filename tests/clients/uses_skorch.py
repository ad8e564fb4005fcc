"""skorch: modules with a function as a layer, in scikit-learn."""

import pickle

import numpy as np
import torch
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from skorch import NeuralNetClassifier, NeuralNetRegressor

X = np.linspace(-1, 1, 36, dtype=np.float32).reshape(12, 3)
Y = np.sin(X.sum(1, keepdims=True))
CLASSES = np.arange(12) % 2


class Network(torch.nn.Module):
    """A perceptron with one hidden layer."""

    def __init__(self, function, width=3, outputs=1):
        super().__init__()
        torch.manual_seed(0)  # in other processes too
        self.function = function
        self.first, self.second = torch.nn.Linear(3, width), torch.nn.Linear(width, outputs)

    def forward(self, x):
        return self.second(self.function(self.first(x)))


def _regressor(in_torch):
    return NeuralNetRegressor(
        Network, module__function=in_torch.swish, max_epochs=2, lr=0.1, train_split=None, verbose=0
    )


def fitted(in_torch):
    """`fit` and `predict` of a regressor."""
    return _regressor(in_torch).fit(X, Y).predict(X)


def classifier(in_torch):
    """`fit` and `predict_proba` of a classifier."""
    network = NeuralNetClassifier(
        Network,
        module__function=in_torch.swish,
        module__outputs=2,
        lr=0.5,
        criterion=torch.nn.CrossEntropyLoss,
        max_epochs=2,
        train_split=None,
        verbose=0,
    )
    return network.fit(X, CLASSES).predict_proba(X)


def in_a_pipeline(in_torch):
    """A step of a pipeline, by `cross_val_predict`, which clones it."""
    return cross_val_predict(make_pipeline(StandardScaler(), _regressor(in_torch)), X, Y, cv=2)


def searched(in_torch):
    """`GridSearchCV` of the width and the learning rate."""
    search = GridSearchCV(_regressor(in_torch), {"lr": [0.01, 0.1], "module__width": [2, 3]}, cv=2)
    return search.fit(X, Y).cv_results_["mean_test_score"]


def searched_in_processes(in_torch):
    """`GridSearchCV` with `n_jobs=2`, in other processes."""
    return (
        GridSearchCV(_regressor(in_torch), {"lr": [0.01, 0.1]}, cv=2, n_jobs=2).fit(X, Y).cv_results_["mean_test_score"]
    )


def pickled(in_torch):
    """A fitted regressor that goes through `pickle`."""
    return pickle.loads(pickle.dumps(_regressor(in_torch).fit(X, Y))).predict(X)


def cloned(in_torch):
    """`sklearn.base.clone` of a fitted regressor, fitted again by `partial_fit`."""
    return clone(_regressor(in_torch).fit(X, Y)).partial_fit(X, Y).predict(X)
