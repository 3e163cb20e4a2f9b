/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Stacks of threads that take turns on one processor.
 */
#ifndef SIM_STACK_H
#define SIM_STACK_H

/*
 * Saves what a function has to save for its caller on this stack, stores the stack
 * pointer in *@save, and goes on where @sp was saved.
 */
void sim_stack_switch(void **save, void *sp);

/**
 * sim_stack_prepare - prepare a new stack
 * @end: the end of its memory, where it begins
 * @begin: the function that runs first on it, and never returns
 *
 * Return: the stack pointer for sim_stack_switch().
 */
void *sim_stack_prepare(void *end, void (*begin)(void));

#endif /* SIM_STACK_H */
