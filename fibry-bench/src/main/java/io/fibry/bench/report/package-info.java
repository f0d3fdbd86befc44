/** What was measured, in one shape, and the page with tables and charts that is made of it. */
package io.fibry.bench.report;
