#define ISA isa_scalar
#define ISA_NAME "scalar"
#define WIDTH 4
#include "mxfp4_scalar.h"
#include "table.h"
