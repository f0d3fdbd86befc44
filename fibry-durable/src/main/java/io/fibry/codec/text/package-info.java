/** Texts of users, in logs and exceptions. */
package io.fibry.codec.text;
