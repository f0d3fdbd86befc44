/**
 * Times and texts of users, as errors and logs show them; used everywhere. Exported to other
 * modules of Fibry only.
 */
package io.fibry.text;
