// `switch` with cases that fall through, and a default in the middle.
//
//@ sc: verified
//@ tso: verified
//@ rc11: verified

#include <assert.h>

int f(int x) {
    int r = 0;
    switch (x) {
        case 0: r += 1;
        case 1: r += 10;
        break;
        default: r = 5;
        case 3: {
            r += 100;
        }
    }
    return r;
}

int main(void) {
    assert(f(0) == 11 && f(1) == 10 && f(2) == 105 && f(3) == 100);
}
