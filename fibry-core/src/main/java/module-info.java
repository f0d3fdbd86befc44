import org.jspecify.annotations.NullMarked;

/**
 * Actors on virtual threads: some state, a mailbox, and a handler that sees one message at a time.
 * Start at {@link io.fibry.ActorSystem}.
 */
@NullMarked
module io.fibry {
  requires java.net.http;
  requires jdk.jfr;
  requires org.slf4j;
  requires static org.jspecify;

  exports io.fibry;
  exports io.fibry.flow;
  exports io.fibry.fsm;
  exports io.fibry.io;
  exports io.fibry.mailbox;
  exports io.fibry.net;
  exports io.fibry.pool;
  exports io.fibry.pubsub;
  exports io.fibry.stereotype;
  exports io.fibry.time;
}
