/** What durable actors cost, beside the disk, other stores, and actors in memory. */
package io.fibry.bench.durable;
