/**
 * Makes texts of durations and of users' objects, for exceptions and logs. Exported to other
 * modules of Fibry only.
 */
package io.fibry.text;
