"""Lightning: modules with a layer that is a function, trained by `Trainer`."""

import copy
import io
import pickle
import tempfile
import warnings

import lightning
import torch
from torch.utils.data import DataLoader, TensorDataset

X = torch.linspace(-1, 1, 24).reshape(8, 3)
Y = X.sin().sum(1, keepdim=True)
QUIET = {"logger": False, "enable_progress_bar": False, "enable_model_summary": False, "accelerator": "cpu"}


class Activation(torch.nn.Module):
    """A layer without parameters."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x):
        return self.function(x)


class Regression(lightning.LightningModule):
    """A perceptron with one hidden layer."""

    def __init__(self, function):
        super().__init__()
        self.network = torch.nn.Sequential(torch.nn.Linear(3, 4), Activation(function), torch.nn.Linear(4, 1))

    def training_step(self, batch, number):
        x, y = batch
        return torch.nn.functional.mse_loss(self.network(x), y)

    def validation_step(self, batch, number):
        self.log("loss", self.training_step(batch, number))

    def predict_step(self, batch, number):
        return self.network(batch[0])

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.05)


def _data():
    return DataLoader(TensorDataset(X, Y), batch_size=4)


def _fitted(model, **settings):
    settings = QUIET | {"max_epochs": 2, "enable_checkpointing": False} | settings
    trainer = lightning.Trainer(**settings)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        trainer.fit(model, _data())
    return trainer


def _weights(model):
    return dict(model.state_dict())


def fitted(in_torch):
    """`Trainer.fit`."""
    model = Regression(in_torch.swish)
    _fitted(model)
    return _weights(model)


def clipped_and_accumulated(in_torch):
    """`Trainer.fit` with clipped and accumulated gradients."""
    model = Regression(in_torch.swish)
    _fitted(model, gradient_clip_val=0.1, accumulate_grad_batches=2)
    return _weights(model)


def half_precision(in_torch):
    """`Trainer(precision="bf16-mixed")`."""
    model = Regression(in_torch.swish)
    start = copy.deepcopy(model.state_dict())
    _fitted(model, precision="bf16-mixed")
    return {name: (weight - start[name]).half() for name, weight in model.state_dict().items()}


def validated_and_predicted(in_torch):
    """`Trainer.validate` and `Trainer.predict`."""
    model = Regression(in_torch.swish)
    trainer = _fitted(model)
    return trainer.validate(model, _data(), verbose=False), trainer.predict(model, _data())


def checkpoint(in_torch):
    """A checkpoint that is saved, loaded by `load_from_checkpoint`, and trained on from."""
    with tempfile.TemporaryDirectory() as folder:
        file = f"{folder}/model.ckpt"
        _fitted(Regression(in_torch.swish)).save_checkpoint(file)
        model = Regression.load_from_checkpoint(file, function=in_torch.swish, weights_only=False)
        trainer = lightning.Trainer(**QUIET, max_epochs=4, enable_checkpointing=False)
        trainer.fit(model, _data(), ckpt_path=file, weights_only=False)
    return _weights(model)


def copied(in_torch):
    """A module that is copied by `copy.deepcopy`, and the copy fitted."""
    model = copy.deepcopy(Regression(in_torch.swish))
    _fitted(model)
    return _weights(model)


def pickled(in_torch):
    """A module that goes through `pickle`, and is fitted."""
    model = pickle.loads(pickle.dumps(Regression(in_torch.swish)))
    _fitted(model)
    return _weights(model)


def saved_whole(in_torch):
    """A module that is saved whole by `torch.save`, loaded and fitted."""
    file = io.BytesIO()
    torch.save(Regression(in_torch.swish), file)
    file.seek(0)
    model = torch.load(file, weights_only=False)
    _fitted(model)
    return _weights(model)


def kept_among_hyperparameters(in_torch):
    """`save_hyperparameters`, which puts the function into the checkpoint that is loaded."""

    class Saved(Regression):
        def __init__(self, function):
            super().__init__(function)
            self.save_hyperparameters()

    with tempfile.TemporaryDirectory() as folder:
        file = f"{folder}/model.ckpt"
        _fitted(Saved(in_torch.swish)).save_checkpoint(file)
        return _weights(Saved.load_from_checkpoint(file, weights_only=False))


def averaged(in_torch):
    """`StochasticWeightAveraging`, which copies the module."""
    model = Regression(in_torch.swish)
    _fitted(model, max_epochs=3, callbacks=[lightning.pytorch.callbacks.StochasticWeightAveraging(swa_lrs=0.05)])
    return _weights(model)
