package io.fibry.net.udp;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.ActorSystem;
import io.fibry.AskCycleException;
import io.fibry.Exitable;
import io.fibry.FailurePolicy;
import io.fibry.Handler;
import io.fibry.Strategy;
import io.fibry.block.LossLog;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.net.UdpPacket;
import io.fibry.net.UdpServer;
import io.fibry.net.socket.LogThrottle;
import io.fibry.spi.BlockBuilder;
import io.fibry.spi.ForwardingExitable;
import io.fibry.text.Lines;
import io.fibry.text.SafeLogger;
import io.fibry.time.Scheduler;
import java.io.IOException;
import java.net.DatagramPacket;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.time.Duration;
import java.util.Arrays;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;

/**
 * A UDP server. One actor receives packets on a fiber; another actor handles them. The handling
 * actor gives the server its name and its mailbox, and the server ends when this actor ends. The
 * end of the server closes the socket, which ends the fiber. The receiving actor is in the root
 * scope, so that {@code awaitQuiescence} of the server's scope does not wait for it. The keys,
 * weights and interceptors of the builder are for the handling actor only.
 */
public final class UdpReceiver extends ForwardingExitable<UdpServer> implements UdpServer {
  private static final Logger LOG = SafeLogger.of(UdpServer.class);
  private static final Mailbox<Object> MAILBOX = Mailbox.bounded(1_024, Overflow.DROP_NEWEST);
  private static final Duration GRACE = Duration.ofSeconds(1); // max wait for the fiber to end, before it is killed
  private static final long FIRST_PAUSE = 5_000_000; // ns; after a failed receive
  private static final long MAX_PAUSE = 1_000_000_000; // ns; after many failed receives in a row

  private final UdpSockets sockets;
  private final int port;
  private final UdpSettings settings;
  private final Scheduler clock;
  private final LogThrottle throttle;
  private final CompletableFuture<Object> ended = new CompletableFuture<>(); // completed by `end`
  private final LossLog losses;
  private final AtomicLong dropped = new AtomicLong(); // written by the fiber
  private final Actor<UdpPacket> handlingActor;
  private final Actor<UdpReceiver> receivingActor =
      BlockBuilder.of(ActorSystem.anonymous()).excludedFromAccounts().strategy(Strategy.FIBER)
          .mailbox(Mailbox.unbounded()).onFailure(FailurePolicy.stop()).newActor(UdpReceiver::receive);

  @SuppressWarnings("unchecked") // the builder may be for messages of any type
  UdpReceiver(ActorBuilder<?> builder, UdpSockets sockets, Handler.Stateful<UdpServer, UdpPacket> handler,
      UdpSettings settings) {
    this.sockets = sockets;
    this.settings = settings;
    this.port = sockets.in().getLocalPort();
    this.clock = BlockBuilder.of(builder).scheduler();
    this.throttle = new LogThrottle(clock);
    this.handlingActor = BlockBuilder.of(((ActorBuilder<Object>) builder)).defaultMailbox(MAILBOX)
        .newActor((UdpPacket packet) -> handler.handle(this, packet));
    this.losses = new LossLog(clock, handlingActor.onExit(), new LossWriter());
  }

  public static UdpReceiver open(ActorBuilder<?> builder, int port, Handler.Stateful<UdpServer, UdpPacket> handler,
      UdpSettings settings) {
    var sockets = UdpSockets.open(settings.address(), settings.group(), port);
    try {
      return new UdpReceiver(builder, sockets, handler, settings).start();
    } catch (Throwable refused) {
      sockets.close();
      throw refused;
    }
  }

  UdpReceiver start() {
    handlingActor.closeOnExit(this::end);
    receivingActor.sendMessage(this);
    receivingActor.sendPoisonPill();
    return this;
  }

  /** Receives packets until the socket is closed. Runs on the fiber. */
  private void receive() throws Exception {
    Thread.currentThread().setName("udp-" + port);
    var buffer = new byte[settings.maxPacket() + 1]; // one byte more, to recognize packets that are too long
    var rates = settings.rate().map(rate -> new SourceRateLimiter(clock, rate.packets(), rate.period()));
    long pauseNanos = 0;
    try {
      while (!ended.isDone()) {
        var packet = new DatagramPacket(buffer, buffer.length);
        try {
          sockets.in().receive(packet);
          pauseNanos = 0;
        } catch (IOException failure) {
          if (ended.isDone()) return;
          if (sockets.in().isClosed()) {
            LOG.error("{} ends: its socket was closed, for example by an interrupt of a fiber that was sending", this,
                failure);
            return;
          }
          pauseNanos = Math.clamp(2 * pauseNanos, FIRST_PAUSE, MAX_PAUSE);
          pause(pauseNanos, failure);
          continue;
        }
        if (rates.isPresent() && !rates.get().tryAdmit(packet.getAddress()) || !passOn(packet)) {
          dropped.incrementAndGet();
          losses.countLoss();
        }
      }
    } finally {
      handlingActor.sendPoisonPill(); // ends the server if this method has failed
    }
  }

  /** Logs the dropped packets. */
  private final class LossWriter implements LossLog.Writer {
    @Override
    public void begun() {
      LOG.warn("{} drops packets, because its actor did not take one or a sender exceeded the rate; further drops are "
          + "counted in one line a minute, and by dropped()", UdpReceiver.this);
    }

    @Override
    public void continued(long count) {
      LOG.warn("{} dropped {} since the last such line, which comes once a minute", UdpReceiver.this,
          Lines.count(count, "more packet"));
    }

    @Override
    public void ended(long totalCount) {
      LOG.info("{} has stopped dropping packets; it dropped {}", UdpReceiver.this, Lines.count(totalCount, "packet"));
    }
  }

  /**
   * Sends the packet to the handling actor. Returns false if this actor does not take the packet.
   */
  private boolean passOn(DatagramPacket packet) {
    int length = Math.min(packet.getLength(), settings.maxPacket());
    var copy = new UdpPacket((InetSocketAddress) packet.getSocketAddress(), Arrays.copyOf(packet.getData(), length),
        packet.getLength() > length);
    try {
      return handlingActor.sendMessage(copy);
    } catch (RuntimeException unsendable) { // thrown by the user's key or weight, or by a cycle of waits
      LOG.error("{} could not pass {} to its actor", this, copy, unsendable);
      return false;
    }
  }

  /** Waits after a failure to receive. Returns early when the server ends. */
  private void pause(long nanos, IOException failure) throws Exception {
    if (throttle.countEvent() > 0)
      LOG.warn("{} could not receive and tries again after a pause; logged at most once a minute", this, failure);
    var elapsed = new CompletableFuture<Object>();
    var timer = clock.schedule(Duration.ofNanos(nanos), () -> elapsed.complete(nanos));
    try {
      CompletableFuture.anyOf(elapsed, ended).get();
    } finally {
      timer.cancel();
    }
  }

  @Override
  public void reply(UdpPacket packet, byte[] data) throws IOException {
    Objects.requireNonNull(data, "data");
    long maxLength = (long) Objects.requireNonNull(packet, "packet").data().length * settings.maxReply();
    if (data.length > maxLength) throw new IllegalArgumentException("a reply of " + data.length + " bytes to " + packet
        + " exceeds " + maxLength + " bytes, and longer replies to a forged address could flood another machine; "
        + "have clients send longer packets, or open the server withMaxReply(..)");
    send(packet.from(), data);
  }

  @Override
  public void send(InetSocketAddress receiver, byte[] data) throws IOException {
    if (Objects.requireNonNull(receiver, "receiver").isUnresolved())
      throw new IllegalArgumentException("nothing can be sent to " + receiver + ", a name that has no address");
    if (Objects.requireNonNull(data, "data").length > UdpSettings.MAX_CONTENT) throw new IllegalArgumentException(
        "a packet of " + data.length + " bytes is too long for a datagram; send at most " + UdpSettings.MAX_CONTENT);
    if (sockets.out().isClosed()) throw new SocketException(this + " has ended and sends nothing more");
    sockets.out().send(new DatagramPacket(data, data.length, receiver));
  }

  @Override
  public int port() {
    return port;
  }

  @Override
  public long dropped() {
    return dropped.get();
  }

  // ---- the end

  private void end() {
    ended.complete(this); // completed before the fiber sees the closed socket
    sockets.close();
    receivingActor.sendPoisonPill();
    boolean isInterrupted = false;
    for (boolean isFirst = true; true; isFirst = false) {
      try {
        if (isFirst && receivingActor.waitForExit(GRACE)) break;
        // on CALLER the fiber may run the handler; otherwise it may wait for capacity of the
        // handling actor's mailbox
        receivingActor.kill();
        receivingActor.waitForExit();
        break;
      } catch (AskCycleException ownFiber) { // the current thread is the fiber
        break;
      } catch (CancellationException interrupt) {
        isInterrupted = Thread.interrupted();
      }
    }
    if (isInterrupted) Thread.currentThread().interrupt();
  }

  @Override
  protected Exitable target() {
    return handlingActor;
  }

  @Override
  public String toString() {
    var listenAddress = settings.group().orElse(settings.address());
    return "UDP server '" + name() + "' on " + listenAddress.getHostAddress() + " port " + port;
  }
}
