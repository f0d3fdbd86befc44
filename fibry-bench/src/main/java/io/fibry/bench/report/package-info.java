/** Results in one format, and the pages that show them in tables and charts. */
package io.fibry.bench.report;
