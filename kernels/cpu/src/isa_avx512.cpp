#define ISA isa_avx512
#define ISA_NAME "avx512"
#define WIDTH 16
#include "mxfp4_avx512.h"
#include "table.h"
