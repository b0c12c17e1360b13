"""A training in miniature: prints a falling loss. learner.py ITERATIONS [SECONDS_EACH]"""

import sys
import time

iterations = int(sys.argv[1])
seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 0.02
for iteration in range(1, iterations + 1):
    time.sleep(seconds)
    print(f"iteration {iteration} loss: {1 / iteration:.6f}")
