/** A page in the browser that shows a running scope. */
package io.fibry.dashboard;
