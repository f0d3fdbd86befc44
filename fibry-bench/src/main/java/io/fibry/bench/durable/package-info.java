/** Measures the cost of durable actors, beside the disk, other stores and actors in memory. */
package io.fibry.bench.durable;
