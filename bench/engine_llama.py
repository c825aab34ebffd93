"""The other side of `engine_speed.py`: runs in an environment that has llama-cpp-python, obeys lines of standard input.

    python engine_llama.py MODEL.gguf THREADS PROMPT DECODE

Each line `prefill` or `decode` is answered by seconds: a prompt of PROMPT tokens from an empty cache, or DECODE tokens
one by one after it.
"""

import sys
import time

import llama_cpp


def main() -> None:
    path, threads, prompt, decode = sys.argv[1], *map(int, sys.argv[2:])
    llama = llama_cpp.Llama(
        path, n_ctx=prompt + decode + 8, n_batch=512, n_ubatch=512, n_threads=threads, n_threads_batch=threads,
        verbose=False,
    )  # fmt: skip
    tokens = [(7 * n * n + 3 * n + 2) % llama.n_vocab() for n in range(prompt + decode)]
    for line in sys.stdin:
        begin = time.perf_counter()
        if line.strip() == "prefill":
            llama.reset()
            llama.eval(tokens[:prompt])
        else:
            for token in tokens[prompt:]:
                llama.eval([token])
        print(time.perf_counter() - begin, flush=True)


if __name__ == "__main__":
    main()
