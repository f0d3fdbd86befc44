package io.fibry.flow;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorSystem;
import io.fibry.support.Patience;
import java.lang.ref.Reference;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.reactivestreams.FlowAdapters;
import org.reactivestreams.tck.SubscriberWhiteboxVerification.SubscriberPuppet;
import org.reactivestreams.tck.SubscriberWhiteboxVerification.WhiteboxSubscriberProbe;
import org.reactivestreams.tck.TestEnvironment;
import org.reactivestreams.tck.flow.FlowPublisherVerification;
import org.reactivestreams.tck.flow.FlowSubscriberBlackboxVerification;
import org.reactivestreams.tck.flow.FlowSubscriberWhiteboxVerification;
import org.testng.ITestListener;
import org.testng.ITestResult;
import org.testng.TestNG;

/** Runs the TestNG tests of Reactive Streams; only tests marked as untestable may be skipped. */
class ReactiveStreamsTest {
  // Max ms until an expected signal: longer than the limit of this test, which prints the threads
  private static final int SIGNAL_LIMIT = 86_400_000;
  private static final int SILENCE = 50; // ms in which no unexpected signal may come
  private static final int POLL = 5; // ms between two checks for a failure

  private static final class Results implements ITestListener {
    private final List<String> passed = new ArrayList<>();
    private final List<String> skipped = new ArrayList<>();
    private final List<String> failed = new ArrayList<>();

    @Override
    public void onTestSuccess(ITestResult result) {
      passed.add(result.getName());
    }

    @Override
    public void onTestSkipped(ITestResult result) {
      skipped.add(result.getName());
    }

    @Override
    public void onTestFailure(ITestResult result) {
      failed.add(result.getName() + ": " + result.getThrowable());
    }
  }

  private static void assertRulesHold(int passedCount, Class<?> rules) {
    var results = new Results();
    var runner = new TestNG(false);
    runner.setVerbose(0);
    runner.addListener(results);
    runner.setTestClasses(new Class<?>[] {rules});
    runner.run();

    assertEquals(List.of(), results.failed);
    assertEquals(List.of(), results.skipped.stream().filter(name -> !name.startsWith("untested_")).toList());
    assertEquals(passedCount, results.passed.size(), results.passed::toString);
  }

  @Test
  void publisherKeepsReactiveStreamsRules() {
    assertRulesHold(31, Publisher.class);
  }

  @Test
  void subscriberKeepsBlackboxRules() {
    assertRulesHold(11, Subscriber.class);
  }

  @Test
  void subscriberKeepsWhiteboxRules() {
    assertRulesHold(14, WhiteboxSubscriber.class);
  }

  private static TestEnvironment environment() {
    return new TestEnvironment(SIGNAL_LIMIT, SILENCE, POLL);
  }

  public static class Publisher extends FlowPublisherVerification<Long> {
    public Publisher() {
      super(environment());
    }

    @Override
    public Flow.Publisher<Long> createFlowPublisher(long elements) {
      return FlowBridges.publisher(() -> LongStream.range(0, elements).iterator());
    }

    @Override
    public Flow.Publisher<Long> createFailedFlowPublisher() {
      return FlowBridges.publisher(() -> {
        throw new IllegalStateException("planned by the test");
      });
    }

    /**
     * Waits longer than the kit's test, which waits only 100 ms for one garbage collection and for
     * the queue of references.
     */
    @Override
    @org.testng.annotations.Test
    public void required_spec313_cancelMustMakeThePublisherEventuallyDropAllReferencesToTheSubscriber()
        throws Throwable {
      var environment = environment();
      var publisher = FlowAdapters.toPublisher(createFlowPublisher(3));
      var cancelledSubscriber = cancelSubscriber(environment, publisher);

      Patience.eventually("the publisher keeps a subscriber that has cancelled", () -> {
        System.gc();
        return cancelledSubscriber.refersTo(null);
      });
      environment.verifyNoAsyncErrorsNoDelay();
      Reference.reachabilityFence(publisher);
    }

    // These replace the kit's tests of rule 3.9, which wait for the error only one poll of 5 ms.
    @Override
    @org.testng.annotations.Test
    public void required_spec309_requestZeroMustSignalIllegalArgumentException() {
      errorOfRequest(0);
    }

    @Override
    @org.testng.annotations.Test
    public void required_spec309_requestNegativeNumberMustSignalIllegalArgumentException() {
      errorOfRequest(-1);
    }

    @Override
    @org.testng.annotations.Test
    public void optional_spec309_requestNegativeNumberMaySignalIllegalArgumentExceptionWithSpecificMessage() {
      var text = errorOfRequest(-1).getMessage();
      assertTrue(text.matches(".*(3\\.9|non-positive subscription request|negative subscription request).*"), text);
    }

    private IllegalArgumentException errorOfRequest(long elements) {
      var error = new CompletableFuture<Throwable>();
      createFlowPublisher(10).subscribe(new Flow.Subscriber<>() {
        @Override
        public void onSubscribe(Flow.Subscription subscription) {
          subscription.request(elements);
        }

        @Override
        public void onNext(Long element) {
          error.completeExceptionally(new AssertionError("received " + element));
        }

        @Override
        public void onError(Throwable failure) {
          error.complete(failure);
        }

        @Override
        public void onComplete() {
          error.completeExceptionally(new AssertionError("the publisher completed"));
        }
      });
      return assertInstanceOf(IllegalArgumentException.class, Patience.value(error));
    }

    private static WeakReference<Object> cancelSubscriber(TestEnvironment environment,
        org.reactivestreams.Publisher<Long> publisher) throws InterruptedException {
      var subscriber = environment.newManualSubscriber(publisher);
      subscriber.request(1);
      subscriber.nextElement();
      subscriber.cancel();
      return new WeakReference<>(subscriber);
    }
  }

  private static Flow.Subscriber<Long> newSubscriber() {
    return FlowBridges.subscriber(ActorSystem.anonymous().newActor((Long message) -> {}), 4, end -> {});
  }

  public static class Subscriber extends FlowSubscriberBlackboxVerification<Long> {
    public Subscriber() {
      super(environment());
    }

    @Override
    public Flow.Subscriber<Long> createFlowSubscriber() {
      return newSubscriber();
    }

    @Override
    public Long createElement(int element) {
      return (long) element;
    }
  }

  public static class WhiteboxSubscriber extends FlowSubscriberWhiteboxVerification<Long> {
    public WhiteboxSubscriber() {
      super(environment());
    }

    @Override
    protected Flow.Subscriber<Long> createFlowSubscriber(WhiteboxSubscriberProbe<Long> probe) {
      return new ProbedSubscriber(probe);
    }

    @Override
    public Long createElement(int element) {
      return (long) element;
    }
  }

  /** The tested subscriber, observed and driven by the probe. */
  private record ProbedSubscriber(WhiteboxSubscriberProbe<Long> probe, Flow.Subscriber<Long> subscriber)
      implements Flow.Subscriber<Long> {
    ProbedSubscriber(WhiteboxSubscriberProbe<Long> probe) {
      this(probe, newSubscriber());
    }

    @Override
    public void onSubscribe(Flow.Subscription subscription) {
      subscriber.onSubscribe(subscription);
      probe.registerOnSubscribe(new SubscriberPuppet() {
        @Override
        public void triggerRequest(long elements) {
          subscription.request(elements);
        }

        @Override
        public void signalCancel() {
          subscription.cancel();
        }
      });
    }

    @Override
    public void onNext(Long element) {
      subscriber.onNext(element);
      probe.registerOnNext(element);
    }

    @Override
    public void onError(Throwable failure) {
      subscriber.onError(failure);
      probe.registerOnError(failure);
    }

    @Override
    public void onComplete() {
      subscriber.onComplete();
      probe.registerOnComplete();
    }
  }
}
