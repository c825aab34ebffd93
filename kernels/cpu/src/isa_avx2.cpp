#define ISA isa_avx2
#define ISA_NAME "avx2"
#define WIDTH 8
#include "mxfp4_avx2.h"
#include "table.h"
