/** Times and texts of users, as errors and logs show them; used everywhere. Not exported. */
package io.fibry.text;
