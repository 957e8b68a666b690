// The verifier linked with nothing of the engines: that it links, and its link map, are the proof.
#include "verify/verify.h"

int main(int count, char** words);

int main(int count, char** words)
{
    static rbVReport report;
    char message[RB_V_VERIFY_MESSAGE];
    int worst = 0;
    for (int i = 1; i < count; ++i) {
        int result = rbVerifyCertificate(words[i], &report, message);
        (void)printf("%s: %d %s\n", words[i], result, message);
        worst = result > worst ? result : worst;
    }
    return worst;
}
