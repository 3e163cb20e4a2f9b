// SPDX-License-Identifier: GPL-2.0
/*
 * Switches stacks; see stack.h.
 */
#include <stddef.h>

#include "stack.h"

#ifdef __x86_64__
__asm__(".text\n"
	".globl sim_stack_switch\n"
	".type sim_stack_switch, @function\n"
	"sim_stack_switch:\n"
	"	pushq %rbp\n"
	"	pushq %rbx\n"
	"	pushq %r12\n"
	"	pushq %r13\n"
	"	pushq %r14\n"
	"	pushq %r15\n"
	"	movq %rsp, (%rdi)\n"
	"	movq %rsi, %rsp\n"
	"	popq %r15\n"
	"	popq %r14\n"
	"	popq %r13\n"
	"	popq %r12\n"
	"	popq %rbx\n"
	"	popq %rbp\n"
	"	ret\n"
	".size sim_stack_switch, .-sim_stack_switch\n");

void *sim_stack_prepare(void *end, void (*begin)(void))
{
	void **sp = end;

	/* As if the function had been called: the stack is aligned but for an address. */
	*--sp = NULL;
	*--sp = (void *)begin;
	return sp - 6;
}
#else
#error "test/sim/stack.c: write sim_stack_switch() for this processor"
#endif
