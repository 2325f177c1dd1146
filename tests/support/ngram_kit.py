WORDS = ["<unk>", "</s>", "dog", "the"]
ARPA = """\\data\\
ngram 1=5
ngram 2=3

\\1-grams:
-1.0\t<unk>
-99\t<s>\t-0.3
-0.7\t</s>
-0.5\tthe\t-0.2
-0.9\tdog\t-0.1

\\2-grams:
-0.25\t<s> the
-0.4\tthe dog
-0.15\tdog </s>

\\end\\
"""
