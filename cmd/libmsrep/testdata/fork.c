/* Checks that all functions return an error in the child of a fork, and that the parent and a child that calls exec are
 * not affected. */
#include <msrep.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int child(msrep_system sys, msrep_plan plan) {
	msrep_matrix a = MSREP_MATRIX_INIT;
	msrep_system other;
	double v[2] = {1, 1}, w[2];
	char text[8];
	const msrep_status got[] = {
	    msrep_open("cpu:1", 0, &other), msrep_open_with(NULL, &other), msrep_plan_matrix(sys, &a, NULL, &plan),
	    msrep_multiply(plan, 0, 1, 2, v, 0, 2, w), msrep_multiply_many(plan, 0, 1, 1, 2, v, 1, 0, 2, w, 1, 0),
	    msrep_update(plan, 2, v), msrep_describe(plan, text, sizeof text, NULL), msrep_solve_with(sys, &a, 2, v, 2, w, NULL, NULL),
	    msrep_plan_solve(plan, 2, v, 2, w, NULL, NULL), msrep_factor(sys, &a, NULL, NULL, &other), msrep_stop(sys),
	    msrep_read("gen:stencil:n=3", &a), msrep_read_with("gen:stencil:n=3", NULL, &a), msrep_info(&a, text, sizeof text, NULL), msrep_close(plan), msrep_close(sys),
	};
	for (unsigned k = 0; k < sizeof got / sizeof *got; k++)
		if (got[k] != MSREP_FORKED || !strstr(msrep_last_error(), "forked")) {
			fprintf(stderr, "call %u in the child: status %d (%s)\n", k, got[k], msrep_last_error());
			return 1;
		}
	return 0;
}

int main(int argc, char **argv) {
	if (argc > 1 && strcmp(argv[1], "again") == 0) { /* after exec */
		msrep_system sys;
		return msrep_open("cpu:1", 0, &sys) || msrep_close(sys);
	}
	int64_t ptr[] = {0, 1, 2};
	int32_t idx[] = {0, 1};
	double val[] = {2, 3}, x[] = {1, 1}, y[2] = {0, 0};
	msrep_system sys;
	msrep_plan plan;
	if (msrep_open("cpu:2", 0, &sys) || msrep_plan_csr(sys, 2, 2, 2, ptr, idx, val, 0, &plan))
		return 1;
	for (int execs = 0; execs <= 1; execs++) {
		pid_t pid = fork();
		if (pid == 0) {
			if (!execs)
				_exit(child(sys, plan));
			execl(argv[0], argv[0], "again", (char *)NULL);
			_exit(2);
		}
		int status;
		if (waitpid(pid, &status, 0) != pid || status != 0) {
			fprintf(stderr, "child %d: status %d\n", execs, status);
			return 1;
		}
	}
	if (msrep_multiply(plan, 0, 1, 2, x, 0, 2, y) || y[0] != 2 || y[1] != 3 || msrep_close(sys))
		return 1;
	puts("fork: calls of the child return an error, the parent and a child after exec go on");
	return 0;
}
