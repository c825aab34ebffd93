module example.com/weights-index

go 1.19
