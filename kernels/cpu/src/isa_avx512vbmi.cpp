#define ISA isa_avx512vbmi
#define ISA_NAME "avx512vbmi"
#define WIDTH 16
#include "mxfp4_avx512.h"
#include "table.h"
