import org.jspecify.annotations.NullMarked;

/**
 * Meters of scopes, routes, blocks, stores and nodes for Micrometer, and context propagators for
 * its observations and traces.
 */
@NullMarked
module io.fibry.micrometer {
  requires transitive io.fibry;
  requires transitive micrometer.core;
  requires java.management;
  requires static context.propagation;
  requires static io.fibry.cluster;
  requires static io.fibry.durable;
  requires static micrometer.tracing;
  requires static org.jspecify;

  exports io.fibry.micrometer;
}
