// C's arithmetic: conversions, wrapping, overflow.
//= constants_and_precedence
#include <stdint.h>
long f1(void) { return 1 + 2 * 3 - 4 / 2; }
long f2(void) { return (7 & 3) | (8 ^ 12); }
long f3(void) { return -7 / 2 * 10 + -7 % 2; }
long f4(void) { return 1 << 4 >> 2; }
long f5(void) { return 0x10 + 010 + 'a'; }
long f6(void) { return ~0; }
long f7(void) { return !5 + !0 + !!7; }
//= unsigned_wraps_and_signed_overflow_is_an_error
#include <stdint.h>
unsigned g1 = 0; long f1(void) { unsigned x = g1; return x - 1; }
unsigned g2 = 4294967295u; long f2(void) { unsigned x = g2; return x + 2; }
uint8_t g3 = 200; long f3(void) { uint8_t x = g3; return x + 100; } // narrow operands are promoted
uint8_t g4 = 200; long f4(void) { uint8_t x = g4; return (uint8_t)(x + 100); }
int g5 = -1; long f5(void) { int x = g5; return (unsigned)x; }
unsigned g6 = 0x80000000u; long f6(void) { unsigned x = g6; return (int)x; }
unsigned g7 = 0xffffffffu; long f7(void) { unsigned x = g7; return ~x + 5; }
int g8 = 2147483647; int f8(void) { int x = g8; return x + 1; }
int g9 = 40; int f9(void) { return 1 << g9; }
int g10; int f10(void) { return 7 / g10; }
int g11; int f11(void) { return 7 % g11; }
//= operands_go_wrong_before_what_is_done_with_them
int g1, h1 = -1; int f1(void) { return h1 << 1 / g1; }
int g2, h2 = -1; int f2(void) { return 1 << h2 + 1 % g2; }
int g3 = 1, h3 = -1; int f3(void) { return h3 << g3 - g3; }
int g4 = -2147483647 - 1, h4 = -1; int f4(void) { return g4 % h4; }
//= mixed_signs_compare_as_unsigned
#include <stdint.h>
int g1 = -1; long f1(void) { int x = g1; return x < 1u; }
int g2 = -1; long f2(void) { int x = g2; return x < 1; }
long g3 = -1; long f3(void) { long x = g3; return x < 1ul; } // 64 bits too
uint64_t g4 = 0xffffffffffffffff; long f4(void) { uint64_t x = g4; return x > 5; }
uint64_t g5 = 0xffffffffffffffff; long f5(void) { uint64_t x = g5; return (long)(x >> 60); }
int8_t g6 = -1; long f6(void) { int8_t x = g6; return x >> 1; }
//= booleans_are_zero_or_one
#include <stdint.h>
int g1 = 256; long f1(void) { int x = g1; return (_Bool)x; }
int g2 = 256; long f2(void) { int x = g2; return (uint8_t)x; }
int g3 = 3; long f3(void) { int x = g3; return (x && 2) + (x || 0) + (x == 3); }
//= assignments_convert_and_chain
#include <stdint.h>
int f(void) { int a; uint8_t b; a = b = 300; a += b; a <<= 2; a |= 1; a ^= 3; return a; }
//= assignments_convert_and_chain_2
int f(void) { int a = 5; int b = a++ * 10 + a; int c = --a + a--; return b * 100 + c * 10 + a; }
//= sizes_are_those_of_lp64
enum e { A };
long f1(void) { return sizeof(char); }
long f2(void) { return sizeof(_Bool); }
long f3(void) { return sizeof(short); }
long f4(void) { return sizeof(int); }
long f5(void) { return sizeof(long); }
long f6(void) { return sizeof(long long); }
long f7(void) { return sizeof(void *); }
long f8(void) { return sizeof(enum e); }
long f9(void) { return sizeof(int[3]); }
long f10(void) { return sizeof(struct { char c; int i; }); }
long f11(void) { return sizeof(struct { char c; long l; char d; }); }
long f12(void) { return sizeof(struct { short s; char c[3]; }); }
long f13(void) { return sizeof(struct { struct { char c; int *p; } a[2]; _Bool b; }); }
long f14(void) { return sizeof(struct { unsigned a : 3; unsigned b : 30; }); }
long f15(void) { return sizeof(struct { unsigned char a : 3; unsigned char b : 4; }); }
long f16(void) { return sizeof(struct { unsigned char a : 5; unsigned char b : 4; }); }
long f17(void) { return sizeof(struct { char a : 3; long b : 20; }); }
//= sizes_are_those_of_lp64_2
#include <stdint.h>
long f(void) { return _Alignof(short) + 10 * _Alignof(struct { char c; long l; }); }
//= sizes_are_those_of_lp64_3
#include <stdint.h>
int16_t g1 = 1; long f1(void) { int16_t x = g1; return sizeof x + 10 * sizeof(x + x) + 100 * sizeof &x; }
//= sizes_are_those_of_lp64_4
struct p { int x; int y; } a[3];
long f(void) { struct p *q = &a[2]; return sizeof a / sizeof a[0] * 10 + (q - a); } // pointers count elements
//= enums_are_unsigned_unless_an_enumerator_is_negative
enum e { A, B };
int f(void) { enum e x = 0; return x - 1 < 0; }
//= enums_are_unsigned_unless_an_enumerator_is_negative_2
enum e { A = -1, B };
int f(void) { enum e x = 0; return x - 1 < 0; }
//= enums_are_unsigned_unless_an_enumerator_is_negative_3
enum e { A, B };
int f(void) { return A - 1 < 0; } // enumerators are int
//= characters_are_signed
#include <stdint.h>
long f1(void) { return 'a' + '\0' + '\''; }
long f2(void) { return '\xff'; }
long f3(void) { return '\101' * 1000 + '\x7f'; }
//= values_that_nobody_looks_at_still_go_wrong
int g1; int f1(void) { return (1 / g1, 2); }
int g2; int f2(void) { 1 / g2; return 2; }
int g3; int f3(void) { (void)(1 / g3); return 2; }
int g4; int f4(void) { for (int i = 0; i < 1; i++, 1 / g4) {} return 2; }
