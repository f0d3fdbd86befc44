package io.fibry.net;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.Handler;
import io.fibry.net.socket.PlainTransport;
import io.fibry.support.Patience;
import io.fibry.testing.Gate;
import io.fibry.testing.RecordedLetters;
import java.time.Duration;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

/** A scope for servers under test, whose dead letters are recorded. */
public final class ServerScope implements AutoCloseable {
  public final RecordedLetters letters = new RecordedLetters();
  public final ActorScope scope;

  public ServerScope() {
    this(o -> o);
  }

  public ServerScope(UnaryOperator<ActorScope.Options> options) {
    scope =
        ActorSystem.openScope("net",
            o -> options.apply(o.withDeadLetterListener(letters).withKillGrace(Duration.ofMillis(200))));
  }

  /**
   * Returns whether this thread of a conversation waits for its client. If so, the limit for the
   * client has begun.
   */
  public static boolean isWaitingForClient(Thread conversation) {
    return Patience.isParked(conversation) && Stream.of(conversation.getStackTrace())
        .anyMatch(frame -> frame.getClassName().equals(PlainTransport.class.getName()));
  }

  public TcpAcceptor open(Handler<TcpConnection> handler) {
    return open(handler, o -> o);
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
