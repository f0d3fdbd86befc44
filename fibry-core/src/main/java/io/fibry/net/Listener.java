package io.fibry.net;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.ExitReason;
import io.fibry.Exitable;
import io.fibry.FailurePolicy;
import io.fibry.RequestException;
import io.fibry.Strategy;
import io.fibry.mailbox.Mailbox;
import io.fibry.time.Scheduler;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import org.slf4j.Logger;

/**
 * Listens on a port and gives each client a conversation: an actor of its own, made by the builder,
 * whose one message is the conversation. What is spoken is said by the classes below it.
 *
 * <p>A fiber accepts. Before each client it takes a permit, so that those too many wait in the
 * system's backlog.
 *
 * <p>Name, end and place in the scope are those of an actor, the front. Its last act is
 * {@link #drain}: so whoever ends the front, by the listener or with the scope, ends the listener.
 * {@code open -> stopping}, then the conversations have until the drain limit, then they are cut:
 * their links closed, their actors killed.
 */
abstract class Listener implements Exitable {

  /** What is spoken with one client. Who sees a dead letter sees this. */
  interface Conversation {
    /** Until that is over; on the thread of the client's actor. */
    void converse() throws Exception;
  }

  // to end what no longer has a reason to go on
  private static final Duration ACCEPTED = Duration.ofSeconds(1);

  final ActorBuilder<Object> how;
  final Scheduler clock;
  final ListenerLimits limits;
  private final Logger log;
  private final ListenerSocket port;
  private final Exitable front;
  private final Semaphore permits;
  // entered by the accepting fiber, left at the end of their actors
  private final Set<Client> open = ConcurrentHashMap.newKeySet();
  private final LimitCheck watch;
  private final Thread accepting;
  private final LogThrottle lost;
  // no conversation is waited for any more: none is open, or patience is over
  private final CountDownLatch over = new CountDownLatch(1);
  private long number; // the accepting fiber's

  @SuppressWarnings("unchecked") // what a builder may take is told to the compiler alone
  Listener(ActorBuilder<?> how, int number, ListenerLimits limits, Logger log) {
    // a conversation is one message
    this.how = ((ActorBuilder<Object>) Objects.requireNonNull(how, "how")).mailbox(Mailbox.unbounded());
    this.clock = how.scheduler();
    this.limits = limits;
    this.log = log;
    this.lost = new LogThrottle(clock);
    this.permits = new Semaphore(limits.connections());
    this.watch = new LimitCheck(clock, limits.period(), open);
    this.port = new ListenerSocket(new InetSocketAddress(limits.address(), ListenerLimits.port(number)), clock, log);
    try {
      this.front = this.how.strategy(Strategy.FIBER).onFailure(FailurePolicy.goOn()).endsFirst().newSink();
    } catch (Throwable refused) {
      port.shut();
      throw refused;
    }
    front.closeOnExit(this::drain);
    // it may have been cut off: nobody's patience is left
    front.onExit().whenComplete((reason, none) -> over.countDown());
    this.accepting =
        Thread.ofVirtual().name(front.name() + "/accept").inheritInheritableThreadLocals(false).unstarted(this::accept);
  }

  /** Last act of who makes one. */
  final void start() {
    accepting.start();
  }

  public final int port() {
    return port.address().getPort();
  }

  /** What is spoken with a client: the one message of its actor. */
  abstract Conversation conversation(ClientSocket socket, ActorBuilder<Object> how);

  // ---- accepting: one fiber

  private void accept() {
    try {
      while (true) {
        permits.acquireUninterruptibly();
        var socket = port.next(this);
        if (socket == null) return;
        begin(socket);
      }
    } catch (Throwable broken) {
      log.error("{} can accept nobody any more and ends", this, broken);
    } finally {
      if (!isStopping()) sendPoisonPill();
    }
  }

  private void begin(Socket socket) {
    Client client = null;
    try {
      client = new Client(new ClientSocket(socket, clock, limits),
          how.name().isEmpty() ? how : how.part(Long.toString(++number)));
      open.add(client);
      watch.begin();
      client.begin();
      port.succeeded();
    } catch (IllegalStateException closed) {
      // the scope: it takes no actor more, and will end the front in its turn
      abandon(socket, client);
      stopAccepting();
    } catch (Throwable failure) {
      abandon(socket, client);
      port.failed(this, "begin a conversation", failure);
    }
  }

  private void abandon(Socket socket, Client client) {
    if (client != null) client.over();
    else permits.release();
    try {
      socket.close();
    } catch (IOException gone) {
      // it is closed all the same
    }
  }

  // ---- conversations

  /** One client: its link and its actor. */
  private final class Client implements LimitCheck.Subject {
    private final ClientSocket socket;
    private final Conversation conversation;
    private final Actor<Conversation> actor;
    // that talks; written and read by it, or read by others to compare it with their own
    private Thread thread;
    private boolean freed; // the permit; under the monitor
    private Throwable failed; // a first try; the actor's thread

    Client(ClientSocket socket, ActorBuilder<Object> how) {
      this.socket = socket;
      this.conversation = conversation(socket, how);
      this.actor = how.newActor(this::run);
    }

    void begin() {
      actor.closeOnExit(this::over);
      if (!isStopping()) actor.sendMessage(conversation);
      actor.sendPoisonPill();
    }

    private void run(Conversation conversation) throws Exception {
      if (failed instanceof Error error) throw error;
      // a policy that tries again: the client is gone
      if (failed instanceof Exception exception) throw exception;
      thread = Thread.currentThread();
      try {
        conversation.converse();
      } catch (Throwable failure) {
        if (!socket.explains(failure)) {
          failed = failure;
          throw failure;
        }
        ended(failure);
      } finally {
        thread = null;
        socket.close();
        free();
      }
    }

    /** The actor's last act, or that of who could not make it. */
    private void over() {
      socket.close();
      free();
      open.remove(this);
      if (isStopping() && open.isEmpty()) over.countDown();
    }

    private void free() {
      synchronized (this) {
        if (freed) return;
        freed = true;
      }
      permits.release();
    }

    @Override
    public void check(long now) {
      socket.check(now);
    }

    private void cut(String why) {
      socket.cut(why, false);
      actor.kill();
    }
  }

  /**
   * A client that goes without a word, or is cut off by a limit, is no failure of its handler:
   * there may be thousands.
   */
  private void ended(Throwable failure) {
    long told = isStopping() ? 0 : lost.count();
    if (told > 0) log.info(
        "{}: conversations ended by their clients, or by a limit: {} since this was last said, at most once a "
            + "minute; the last: {}",
        this, told, failure.getMessage());
    else log.debug("{}: a conversation was ended by its client, or by a limit", this, failure);
  }

  /** Those whose link is open. */
  final List<Conversation> conversations() {
    return open.stream().filter(client -> !client.socket.isClosed()).map(client -> client.conversation).toList();
  }

  // ---- the end

  private boolean isStopping() {
    return port.isShut();
  }

  private void stopAccepting() {
    if (isStopping()) return;
    port.shut();
    permits.release(); // it may wait for one
    // who is entered later sees that it stops
    for (var client : open) client.socket.end();
  }

  /** The front's last act: conversations may finish until the drain limit. */
  private void drain() {
    stopAccepting();
    await();
    cutAll();
    join();
    cutAll(); // who was just coming in
    watch.stop();
  }

  private void cutAll() {
    for (var client : open) client.cut("the server has ended, and " + client.socket + " was cut off");
    for (var client : open) if (!front.onExit().isDone()) outlast(client.actor);
  }

  private void await() {
    if (open.isEmpty()) return;
    var limit = clock.after(limits.drain(), over::countDown);
    try {
      if (!open.isEmpty()) over.await();
    } catch (InterruptedException killed) {
      // or the scope's patience is over
    } finally {
      limit.cancel();
    }
  }

  private static void outlast(Exitable actor) {
    while (true) {
      try {
        actor.waitForExit();
        return;
      } catch (CancellationException interrupt) {
        Thread.interrupted(); // by a kill, which has come to this actor too
      } catch (RequestException ring) {
        // its handler waits for the end of the listener, or of the scope: it goes first
        return;
      }
    }
  }

  /**
   * The accepting fiber has nothing to wait for any more; but on CALLER it may be in a conversation
   * that ignores its end.
   */
  private void join() {
    if (accepting.getState() == Thread.State.NEW) return;
    try {
      accepting.join(ACCEPTED);
    } catch (InterruptedException killed) {
      // it ends all the same
    }
  }

  @Override
  public final void sendPoisonPill() {
    stopAccepting();
    front.sendPoisonPill();
  }

  @Override
  public final void askExit() {
    stopAccepting();
    for (var client : open) hurry(client.socket);
    front.askExit();
  }

  /** It is to end after what it is doing now. */
  void hurry(ClientSocket socket) {
    socket.endInput();
  }

  @Override
  public final void kill() {
    stopAccepting();
    over.countDown();
    for (var client : open) client.cut("the server was killed, and " + client.socket + " was cut off");
    front.kill();
  }

  @Override
  public final void waitForExit() {
    refuseRing();
    front.waitForExit();
  }

  @Override
  public final boolean waitForExit(Duration limit) {
    refuseRing();
    return front.waitForExit(limit);
  }

  /**
   * Who is in the handler of a conversation can wait neither for that nor for the listener, which
   * waits for it.
   */
  private void refuseRing() {
    var mine = mine();
    if (mine != null) mine.actor.waitForExit(Duration.ZERO);
  }

  private Client mine() {
    var me = Thread.currentThread();
    for (var client : open) if (client.thread == me) return client;
    return null;
  }

  @Override
  public final void close() {
    sendPoisonPill();
    if (mine() == null) front.waitForExit();
  }

  @Override
  public final String name() {
    return front.name();
  }

  @Override
  public final CompletableFuture<ExitReason> onExit() {
    return front.onExit();
  }

  @Override
  public Listener closeOnExit(AutoCloseable... resources) {
    var last = new ArrayList<AutoCloseable>();
    for (var resource : resources) last.add(new Last(this, Objects.requireNonNull(resource, "a resource")));
    front.closeOnExit(last.toArray(AutoCloseable[]::new));
    return this;
  }

  /** Something that conversations may use until they have ended. */
  @SuppressWarnings("try") // the user's resource may throw anything: the front logs it
  private record Last(Listener listener, AutoCloseable resource) implements AutoCloseable {
    @Override
    public void close() throws Exception {
      listener.drain();
      resource.close();
    }

    @Override
    public String toString() {
      return resource.toString();
    }
  }

  @Override
  public String toString() {
    return "'" + name() + "' on " + port.address();
  }
}
