package io.fibry.net;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.Gate;
import io.fibry.Handler;
import io.fibry.Letters;
import io.fibry.support.Patience;
import java.time.Duration;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

/** A scope for a server. */
public final class ServerScope implements AutoCloseable {
  public final Letters letters = new Letters();
  public final ActorScope scope;

  public ServerScope() {
    this(same -> same);
  }

  public ServerScope(UnaryOperator<ActorScope.Options> options) {
    scope =
        ActorSystem.openScope("net",
            o -> options.apply(o.withDeadLetters(letters).withKillGrace(Duration.ofMillis(200))));
  }

  /**
   * Whether this thread of a conversation waits for its client, so that the limit of this has
   * begun.
   */
  static boolean isWaitingForClient(Thread conversation) {
    return Patience.isParked(conversation) && Stream.of(conversation.getStackTrace())
        .anyMatch(frame -> frame.getClassName().equals(PlainTransport.class.getName()));
  }

  public TcpAcceptor open(Handler<TcpConnection> handler) {
    return open(handler, same -> same);
  }

  public TcpAcceptor open(Handler<TcpConnection> handler, UnaryOperator<TcpOptions> options) {
    return TcpAcceptor.open(scope.anonymous(), 0, handler, options);
  }

  @Override
  public void close() {
    Gate.openAll();
    scope.closeWithin(Duration.ZERO);
  }
}
