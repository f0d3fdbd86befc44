/** Results in one shape, and the pages with tables and charts that show them. */
package io.fibry.bench.report;
