package io.fibry.io;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.ActorContext;
import io.fibry.Exitable;
import io.fibry.block.ChangedCopy;
import io.fibry.pool.Pools;
import io.fibry.spi.BlockBuilder;
import io.fibry.spi.ForwardingExitable;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import java.util.random.RandomGenerator;

/**
 * A downloader that is a pool of workers. A request is cancelled when its caller no longer waits
 * for it.
 */
final class DownloadPool extends ForwardingExitable<Downloader> implements Downloader {
  private static final Duration CONNECT_LIMIT = Duration.ofSeconds(10);
  private static final Duration CLOSE_LIMIT = Duration.ofSeconds(1);

  private final Options options;
  private final Actor<DownloadRequest> pool;

  @SuppressWarnings("unchecked") // the type of the messages is erased
  DownloadPool(ActorBuilder<?> builder, Options options, RandomGenerator random) {
    this.options = options;
    var client = HttpClient.newBuilder().followRedirects(HttpClient.Redirect.NORMAL).connectTimeout(CONNECT_LIMIT)
        .executor(fiberExecutor()).build();
    var budget = new RetryBudget(options.retryBudget);
    var clock = BlockBuilder.of(builder).scheduler();
    try {
      pool = Pools.fixed((ActorBuilder<Object>) builder, options.maxParallel)
          .newActor((DownloadRequest request, ActorContext<DownloadRequest> context) -> {
            try {
              context.reply(request, request.run(client, clock, budget, random));
            } catch (IOException | CancellationException failure) {
              // fails the request, but not the actor
              context.replyFailure(request, failure);
            }
          });
    } catch (Throwable failure) {
      client.shutdownNow();
      throw failure;
    }
    pool.closeOnExit(() -> close(client));
  }

  static DownloadPool open(ActorBuilder<?> builder, UnaryOperator<Options> options) {
    Objects.requireNonNull(builder, "builder");
    return new DownloadPool(builder, ChangedCopy.optionsOf(new Options(), options),
        // a test that advances the clock has to know the delays, so they are not shortened
        BlockBuilder.of(builder).scheduler().isManual() ? () -> 0 : () -> ThreadLocalRandom.current().nextLong());
  }

  private static Executor fiberExecutor() {
    var factory = Thread.ofVirtual().name("download").inheritInheritableThreadLocals(false).factory();
    return task -> factory.newThread(task).start();
  }

  private static void close(HttpClient client) throws InterruptedException {
    client.shutdownNow();
    client.awaitTermination(CLOSE_LIMIT);
  }

  @Override
  public Download ask(URI uri) throws IOException {
    return ask(uri, pool::ask);
  }

  @Override
  public Download ask(URI uri, Duration limit) throws IOException {
    return ask(uri, request -> pool.ask(request, limit));
  }

  private Download ask(URI uri, Function<DownloadRequest, Download> askPool) throws IOException {
    Actor.declareThrown(IOException.class);
    var request = new DownloadRequest(uri, options);
    try {
      return askPool.apply(request);
    } finally {
      request.cancel();
    }
  }

  @Override
  public CompletableFuture<Download> sendMessageReturn(URI uri) {
    var request = new DownloadRequest(uri, options);
    var future = pool.sendMessageReturn(request);
    future.whenComplete((download, failure) -> request.cancel());
    return future;
  }

  @Override
  protected Exitable target() {
    return pool;
  }

  @Override
  public String toString() {
    return "downloader '" + name() + "'";
  }
}
