#define ISA isa_avx512bf16
#define ISA_NAME "avx512bf16"
#define WIDTH 16
#include "mxfp4_avx512.h"
#include "products_bf16.h"
#include "table.h"
