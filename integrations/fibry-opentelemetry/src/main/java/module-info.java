import org.jspecify.annotations.NullMarked;

/**
 * Traces of messages, and metrics of scopes, servers, blocks, stores and nodes, by OpenTelemetry.
 */
@NullMarked
module io.fibry.opentelemetry {
  requires transitive io.fibry;
  requires transitive io.opentelemetry.api;
  requires transitive io.opentelemetry.context;
  requires java.management;
  requires org.slf4j;
  requires static io.fibry.cluster;
  requires static io.fibry.durable;
  requires static org.jspecify;

  exports io.fibry.opentelemetry;
}
