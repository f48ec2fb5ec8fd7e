"""YAML in and out: comments kept, mistakes with their line."""

from pathlib import Path

import pytest

from myxtts import config_file
from myxtts.config import Config
from myxtts.errors import UsageError


def test_the_template_reads_back_as_the_same_configuration(tmp_path):
    config = Config().replaced({"data.train_data": "a b: c#d", "data.languages": ["fa", "en"]})
    config_file.save(config, tmp_path / "c.yaml")
    assert config_file.load(tmp_path / "c.yaml") == config


def test_the_committed_configuration_is_the_template():
    committed = Path(__file__).parent.parent / "configs" / "config.yaml"
    assert committed.read_text() == config_file.template(Config())


def test_changing_a_key_keeps_comments_order_and_quotes(tmp_path):
    path = tmp_path / "c.yaml"
    path.write_text(
        "# mine\ntraining:\n  seed: 7  # lucky\ndata:\n  batch_size: 8  # fits my card\n"
        "  train_data: 'x'\n"
    )
    changed = config_file.set_values(path, {"data.batch_size": 32, "model.width": 64})
    assert changed == (
        "# mine\ntraining:\n  seed: 7  # lucky\ndata:\n  batch_size: 32 # fits my card\n"
        "  train_data: 'x'\nmodel:\n  width: 64\n"
    )
    assert path.read_text().count("32") == 0  # not written


def test_changing_a_key_to_nonsense_is_refused(tmp_path):
    path = tmp_path / "c.yaml"
    path.write_text("data:\n  batch_size: 8\n")
    with pytest.raises(UsageError, match="batch_size"):
        config_file.set_values(path, {"data.batch_size": "many"})


def test_a_mistake_is_reported_with_its_line(tmp_path):
    path = tmp_path / "c.yaml"
    path.write_text("data:\n  language: en\n  batch_sise: 8\n")
    with pytest.raises(UsageError, match="line 3"):
        config_file.load(path)


@pytest.mark.parametrize(
    ("content", "expected"),
    [("data: [1", "not valid YAML"), ("- 1\n- 2\n", "must hold sections"), ("data: 3\n", "data")],
)
def test_what_is_not_a_configuration_is_refused(tmp_path, content, expected):
    path = tmp_path / "c.yaml"
    path.write_text(content)
    with pytest.raises(UsageError, match=expected):
        config_file.load(path)


def test_a_python_object_in_yaml_is_never_made(tmp_path):
    path = tmp_path / "c.yaml"
    path.write_text("data: !!python/object/apply:os.system ['touch made']\n")
    with pytest.raises(UsageError):
        config_file.load(path)
    assert not (tmp_path / "made").exists()


def test_an_empty_file_is_all_defaults(tmp_path):
    path = tmp_path / "c.yaml"
    path.write_text("")
    assert config_file.load(path) == Config()


def test_a_missing_file_says_how_to_make_one(tmp_path):
    with pytest.raises(UsageError, match="no configuration file") as caught:
        config_file.load(tmp_path / "none.yaml")
    assert "myxtts config init" in caught.value.remedy
