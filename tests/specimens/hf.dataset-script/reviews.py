import json

import datasets


class Reviews(datasets.GeneratorBasedBuilder):
    def _info(self):
        return datasets.DatasetInfo(features=datasets.Features({"text": datasets.Value("string"), "label": datasets.Value("int64")}))

    def _split_generators(self, manager):
        return [datasets.SplitGenerator(name="train", gen_kwargs={"path": manager.download("reviews.jsonl")})]

    def _generate_examples(self, path):
        with open(path) as file:
            for number, line in enumerate(file):
                yield number, json.loads(line)
