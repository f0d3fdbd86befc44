/**
 * Makes texts of durations and of users' objects, for exceptions and logs, and escapes texts.
 * Exported to other modules of Fibry only.
 */
package io.fibry.text;
