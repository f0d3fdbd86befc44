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

/** Runs the TestNG tests of Reactive Streams; only those marked as untestable may be skipped. */
class ReactiveStreamsTest {
  // ms for an expected signal: a signal that does not come fails the test by its limit, with the
  // threads
  private static final int NEVER = 86_400_000;
  private static final int SILENCE = 50; // ms: time without an unexpected signal
  private static final int POLL = 5; // ms between two looks for a failure

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

  private static void assertKept(int passed, Class<?> rules) {
    var results = new Results();
    var runner = new TestNG(false);
    runner.setVerbose(0);
    runner.addListener(results);
    runner.setTestClasses(new Class<?>[] {rules});
    runner.run();

    assertEquals(List.of(), results.failed);
    assertEquals(List.of(), results.skipped.stream().filter(name -> !name.startsWith("untested_")).toList());
    assertEquals(passed, results.passed.size(), results.passed::toString);
  }

  @Test
  void thePublisherKeepsTheRules() {
    assertKept(31, Publisher.class);
  }

  @Test
  void theSubscriberKeepsTheRulesThatAreSeenFromOutside() {
    assertKept(11, Subscriber.class);
  }

  @Test
  void theSubscriberKeepsTheRulesThatAreSeenFromInside() {
    assertKept(14, Inside.class);
  }

  private static TestEnvironment environment() {
    return new TestEnvironment(NEVER, SILENCE, POLL);
  }

  public static class Publisher extends FlowPublisherVerification<Long> {
    public Publisher() {
      super(environment());
    }

    @Override
    public Flow.Publisher<Long> createFlowPublisher(long elements) {
      return Flows.publisher(() -> LongStream.range(0, elements).iterator());
    }

    @Override
    public Flow.Publisher<Long> createFailedFlowPublisher() {
      return Flows.publisher(() -> {
        throw new IllegalStateException("a test");
      });
    }

    /** The rule's own test gives one collection, and its queue of references, 100 ms. */
    @Override
    @org.testng.annotations.Test
    public void required_spec313_cancelMustMakeThePublisherEventuallyDropAllReferencesToTheSubscriber()
        throws Throwable {
      var environment = environment();
      var publisher = FlowAdapters.toPublisher(createFlowPublisher(3));
      var forgotten = cancelled(environment, publisher);

      Patience.eventually("the publisher keeps a subscriber that has cancelled", () -> {
        System.gc();
        return forgotten.refersTo(null);
      });
      environment.verifyNoAsyncErrorsNoDelay();
      Reference.reachabilityFence(publisher);
    }

    // The kit counts its time wrongly: it gives the error of rule 3.9 a single poll of 5 ms
    @Override
    @org.testng.annotations.Test
    public void required_spec309_requestZeroMustSignalIllegalArgumentException() {
      refused(0);
    }

    @Override
    @org.testng.annotations.Test
    public void required_spec309_requestNegativeNumberMustSignalIllegalArgumentException() {
      refused(-1);
    }

    @Override
    @org.testng.annotations.Test
    public void optional_spec309_requestNegativeNumberMaySignalIllegalArgumentExceptionWithSpecificMessage() {
      var text = refused(-1).getMessage();
      assertTrue(text.matches(".*(3\\.9|non-positive subscription request|negative subscription request).*"), text);
    }

    private IllegalArgumentException refused(long elements) {
      var error = new CompletableFuture<Throwable>();
      createFlowPublisher(10).subscribe(new Flow.Subscriber<>() {
        @Override
        public void onSubscribe(Flow.Subscription subscription) {
          subscription.request(elements);
        }

        @Override
        public void onNext(Long element) {
          error.completeExceptionally(new AssertionError(element + " came"));
        }

        @Override
        public void onError(Throwable failure) {
          error.complete(failure);
        }

        @Override
        public void onComplete() {
          error.completeExceptionally(new AssertionError("it completed"));
        }
      });
      return assertInstanceOf(IllegalArgumentException.class, Patience.value(error));
    }

    private static WeakReference<Object> cancelled(TestEnvironment environment,
        org.reactivestreams.Publisher<Long> publisher) throws InterruptedException {
      var subscriber = environment.newManualSubscriber(publisher);
      subscriber.request(1);
      subscriber.nextElement();
      subscriber.cancel();
      return new WeakReference<>(subscriber);
    }
  }

  private static Flow.Subscriber<Long> subscriber() {
    return Flows.subscriber(ActorSystem.anonymous().newActor((Long message) -> {}), 4, end -> {});
  }

  public static class Subscriber extends FlowSubscriberBlackboxVerification<Long> {
    public Subscriber() {
      super(environment());
    }

    @Override
    public Flow.Subscriber<Long> createFlowSubscriber() {
      return subscriber();
    }

    @Override
    public Long createElement(int element) {
      return (long) element;
    }
  }

  public static class Inside extends FlowSubscriberWhiteboxVerification<Long> {
    public Inside() {
      super(environment());
    }

    @Override
    protected Flow.Subscriber<Long> createFlowSubscriber(WhiteboxSubscriberProbe<Long> probe) {
      return new Probed(probe);
    }

    @Override
    public Long createElement(int element) {
      return (long) element;
    }
  }

  /** Our subscriber, observed and driven by the probe. */
  private record Probed(WhiteboxSubscriberProbe<Long> probe, Flow.Subscriber<Long> ours)
      implements Flow.Subscriber<Long> {
    Probed(WhiteboxSubscriberProbe<Long> probe) {
      this(probe, subscriber());
    }

    @Override
    public void onSubscribe(Flow.Subscription subscription) {
      ours.onSubscribe(subscription);
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
      ours.onNext(element);
      probe.registerOnNext(element);
    }

    @Override
    public void onError(Throwable failure) {
      ours.onError(failure);
      probe.registerOnError(failure);
    }

    @Override
    public void onComplete() {
      ours.onComplete();
      probe.registerOnComplete();
    }
  }
}
