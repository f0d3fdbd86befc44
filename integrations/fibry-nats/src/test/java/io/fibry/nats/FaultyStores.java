package io.fibry.nats;

import io.fibry.store.Store;
import io.fibry.store.StoreReadException;
import io.fibry.support.Patience;
import io.nats.client.api.MessageInfo;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

/**
 * Stores whose connection can be cut, whose server can be away, and whose writes can be made to
 * fail. Their pages can be of an old replica.
 */
public final class FaultyStores {
  private FaultyStores() {}

  /** The fault of a write. */
  @FunctionalInterface
  private interface Fault {
    CompletableFuture<WriteOutcome> write(Supplier<CompletableFuture<WriteOutcome>> writing);
  }

  private static final String AWAY = "there is no server, as the test has asked for";

  private static final class FaultyLog extends JetStreamLog {
    private final ConcurrentLinkedQueue<Fault> faults = new ConcurrentLinkedQueue<>();

    private final ConcurrentLinkedQueue<Runnable> beforePages = new ConcurrentLinkedQueue<>();
    private final AtomicInteger refused = new AtomicInteger();
    private volatile boolean failsPurges;
    private volatile boolean down;
    private volatile int mostBytes = Integer.MAX_VALUE;
    private volatile Duration suspended = Duration.ZERO;
    private volatile int mostOfPage = Integer.MAX_VALUE;
    // Messages from which pages are taken; null for the messages of the servers
    private volatile List<MessageInfo> replica;

    FaultyLog(NatsConnection link, String stream, Duration limit, PurgeTarget purges) throws IOException {
      super(link, stream, limit, purges);
    }

    @Override
    int maxBytes() {
      return Math.min(mostBytes, super.maxBytes());
    }

    @Override
    long wallMillis() {
      return super.wallMillis() + suspended.toMillis();
    }

    @Override
    CompletableFuture<WriteOutcome> addAll(List<StreamMessage> all, long before) {
      return write(() -> super.addAll(all, before));
    }

    @Override
    CompletableFuture<WriteOutcome> add(StreamMessage one, String id) {
      return write(() -> super.add(one, id));
    }

    @Override
    CompletableFuture<WriteOutcome> replace(StreamMessage one, long before) {
      return write(() -> super.replace(one, before));
    }

    @Override
    CompletableFuture<WriteOutcome> delete(long number) {
      return down ? refusal() : super.delete(number);
    }

    @Override
    CompletableFuture<WriteOutcome> acknowledge(String subject) {
      return down ? refusal() : super.acknowledge(subject);
    }

    @Override
    CompletableFuture<WriteOutcome> purge(String subject, long last) {
      if (down) return refusal();
      return failsPurges
          ? CompletableFuture.completedFuture(new WriteOutcome.RetryableFailure("made up, for a test", false))
          : super.purge(subject, last);
    }

    private CompletableFuture<WriteOutcome> write(Supplier<CompletableFuture<WriteOutcome>> writing) {
      if (down) return refusal();
      var fault = faults.poll();
      return fault == null ? writing.get() : fault.write(writing);
    }

    /** It has not left. */
    private CompletableFuture<WriteOutcome> refusal() {
      refused.incrementAndGet();
      return CompletableFuture.completedFuture(new WriteOutcome.RetryableFailure(AWAY, false));
    }

    /** A read tries again until its limit. */
    private void awaitServer() {
      var end = newDeadline();
      for (int times = 1; down; times++) {
        refused.incrementAndGet();
        if (hasExpired(end)) throw new StoreReadException(AWAY, null);
        pause(times);
      }
    }

    @Override
    List<MessageInfo> lastMessages(Collection<String> subjects) {
      awaitServer();
      return super.lastMessages(subjects);
    }

    @Override
    Optional<MessageInfo> nextMessage(String filter, long from) {
      awaitServer();
      return super.nextMessage(filter, from);
    }

    @Override
    Map<String, Long> countBySubject(String filter) {
      awaitServer();
      return super.countBySubject(filter);
    }

    @Override
    List<MessageInfo> page(String filter, long from, int most) {
      awaitServer();
      var task = beforePages.poll();
      if (task != null) task.run();
      var old = replica;
      if (old == null) return super.page(filter, from, Math.min(most, mostOfPage));
      var page = old.stream().filter(one -> one.getSeq() >= from).limit(Math.min(most, mostOfPage)).toList();
      return page.isEmpty() ? nextMessage(filter, from).stream().toList() : page; // as where a server is behind
    }
  }

  /** A store, and what can befall it. */
  public static final class One {
    private final Store store;
    private final NatsConnection link;
    private final FaultyLog log;

    private One(Store store, NatsConnection link, FaultyLog log) {
      this.store = store;
      this.link = link;
      this.log = log;
    }

    public Store store() {
      return store;
    }

    /** It cannot be mended. */
    public void cut() {
      link.close();
    }

    /** Lets the next writes fail: turns, messages, and beginnings of lives. */
    public void failNext(int writes) {
      for (int i = 0; i < writes; i++) log.faults.add(
          writing -> CompletableFuture.completedFuture(new WriteOutcome.WriteRejection("made up, for a test", false)));
    }

    /** They are stored, and nobody hears of it. */
    void loseAnswers(int writes) {
      for (int i = 0; i < writes; i++)
        log.faults.add(writing -> writing.get()
            .thenApply(stored -> new WriteOutcome.RetryableFailure("made up, for a test", true)));
    }

    /** The next write is stored, and then the machine is suspended, before it gets the answer. */
    void suspendAfterWrite(Duration time) {
      log.faults.add(writing -> writing.get().thenApply(stored -> {
        log.suspended = time;
        return new WriteOutcome.RetryableFailure("made up, for a test", true);
      }));
    }

    /** They are not stored, and the caller cannot know it. */
    void loseWrites(int writes) {
      for (int i = 0; i < writes; i++)
        log.faults.add(writing -> CompletableFuture
            .completedFuture(new WriteOutcome.RetryableFailure("made up, for a test", true)));
    }

    /** Lets removals of messages fail. */
    void failPurges() {
      log.failsPurges = true;
    }

    void healPurges() {
      log.failsPurges = false;
    }

    /** A message of the servers may have so many bytes. */
    void limitMessages(int bytes) {
      log.mostBytes = bytes;
    }

    /** The servers have acknowledged a message, which the present leader does not have. */
    void acknowledged(long seq) {
      log.noteAcknowledged(seq);
    }

    /** Lets the server go down, or come up again. */
    public void down(boolean away) {
      log.down = away;
    }

    /** Waits until the store has met so many times that there is no server. */
    public void awaitRefusals(int times) {
      int before = log.refused.get();
      Patience.eventually(() -> log.refused.get() >= before + times);
    }

    /** A history is read so many messages at a time. */
    void limitPages(int messages) {
      log.mostOfPage = messages;
    }

    /** Something comes before the page with this number, from now on. */
    void beforePage(int number, Runnable task) {
      for (int i = 1; i < number; i++) log.beforePages.add(() -> {});
      log.beforePages.add(task);
    }

    /** Lets a replica that gets no more messages answer for pages of this kind. */
    void freezePages(String filter) {
      log.replica = List.copyOf(log.page(filter, 1, 256));
    }

    /** The replica has caught up. */
    void thawPages() {
      log.replica = null;
    }

    /** Something comes before the write. */
    void before(Runnable task) {
      log.faults.add(writing -> {
        task.run();
        return writing.get();
      });
    }
  }

  public static One open(NatsNetwork network, String app, UnaryOperator<NatsStore.Options> changes) {
    var options = changes.apply(NatsStore.Options.DEFAULT.withRequestLimit(Duration.ofSeconds(10)));
    var subjects = new StoreSubjects(app);
    var link = network.openConnection(app, "test");
    try {
      var log = new FaultyLog(link, subjects.streamName(), options.requestLimit(), network.purgeTarget(app));
      log.createStream(subjects.allFilters(), 1, link.identity().role());
      return new One(new StreamStore(log, subjects, options, link::close), link, log);
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }
}
