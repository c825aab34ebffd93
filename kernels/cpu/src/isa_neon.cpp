#define ISA isa_neon
#define ISA_NAME "neon"
#define WIDTH 4
#include "mxfp4_neon.h"
#include "table.h"
