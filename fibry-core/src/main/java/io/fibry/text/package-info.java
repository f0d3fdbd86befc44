/**
 * Makes texts of durations and of users' objects, for exceptions and logs, and escapes texts.
 * Distinguishes frames of stacks. Exported to other modules of Fibry only.
 */
package io.fibry.text;
