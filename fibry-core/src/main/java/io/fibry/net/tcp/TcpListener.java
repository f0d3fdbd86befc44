package io.fibry.net.tcp;

import io.fibry.ActorBuilder;
import io.fibry.Handler;
import io.fibry.net.TcpAcceptor;
import io.fibry.net.TcpConnection;
import io.fibry.net.socket.ClientSocket;
import io.fibry.net.socket.CurrentStep.MessageObserver;
import io.fibry.net.socket.Listener;
import io.fibry.spi.BlockBuilder;
import io.fibry.text.SafeLogger;
import java.util.Collection;
import java.util.Map;
import org.slf4j.Logger;

/** A TCP acceptor: a listener that calls a handler with each connection. */
public final class TcpListener extends Listener<TcpAcceptor> implements TcpAcceptor {
  private static final Logger LOG = SafeLogger.of(TcpAcceptor.class);

  private final Object kind; // a Forwarder, or "TCP acceptor"; its text is the beginning of toString()
  private final BlockBuilder<?> blockBuilder;
  private final Handler<? super ClientConnection> handler;
  private final TcpSettings settings;

  private TcpListener(ActorBuilder<?> builder, int port, Object kind, Handler<? super ClientConnection> handler,
      TcpSettings settings) {
    super(builder, port, settings.limits(), settings.engines(), LOG);
    this.kind = kind;
    this.blockBuilder = BlockBuilder.of(builder);
    this.handler = handler;
    this.settings = settings;
  }

  public static TcpAcceptor open(ActorBuilder<?> builder, int port, Handler<? super ClientConnection> handler,
      TcpSettings settings) {
    return new TcpListener(builder, port, "TCP acceptor", handler, settings).start();
  }

  public static TcpAcceptor forward(ActorBuilder<?> builder, int port, Forwarder forwarder, TcpSettings settings) {
    var listener = new TcpListener(builder, port, forwarder, forwarder, settings).start();
    return listener.closeOnExit(() -> LOG.debug("{} has ended", listener));
  }

  @Override
  protected Conversation conversation(ClientSocket socket, ActorBuilder<Object> builder) {
    if (blockBuilder.hasPropagators()) socket.step.observeMessages(new MessageObserver(blockBuilder,
        blockBuilder.name().orElse(""), Map.of("network.transport", "tcp")));
    return new ClientConnection(socket, builder, settings, handler);
  }

  @Override
  public Collection<TcpConnection> connections() {
    return conversations().stream().map(conversation -> (TcpConnection) conversation).toList();
  }

  @Override
  public int port() {
    return boundPort();
  }

  @Override
  public String toString() {
    return kind + " " + super.toString();
  }
}
