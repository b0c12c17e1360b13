"""A small convolutional network on pictures of digits in PyTorch, with mete's callback. Loss: cross-entropy."""

import torch

import example
import mete.torch

args = example.arguments(__doc__, iterations=40)
torch.manual_seed(args.seed)
x, digit = example.repeat(args.work, *example.digits())
x = torch.tensor(x, dtype=torch.float32).reshape(-1, 1, 8, 8)
digit = torch.tensor(digit)
network = torch.nn.Sequential(
    torch.nn.Conv2d(1, 16, 3), torch.nn.ReLU(), torch.nn.Conv2d(16, 16, 3), torch.nn.ReLU(), torch.nn.Flatten(),
    torch.nn.Linear(16 * 4 * 4, 10))
optimiser = torch.optim.SGD(network.parameters(), lr=0.02, momentum=0.8)
batch = 64

# One report a pass over the data: the mean loss of its batches.
progress = mete.torch.Progress(every=-(-len(x) // batch))
for epoch in mete.torch.loop(args.iterations):
    for rows in torch.randperm(len(x)).split(batch):
        optimiser.zero_grad()
        loss = torch.nn.functional.cross_entropy(network(x[rows]), digit[rows])
        loss.backward()
        optimiser.step()
        progress(loss, samples=len(rows))
print("%d passes, the last batch's loss is %.6f" % (args.iterations, loss.item()))
