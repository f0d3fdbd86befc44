package io.fibry.pubsub;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ActorSystem;
import io.fibry.Strategy;
import io.fibry.support.Patience;
import io.fibry.support.Soak;
import io.fibry.testing.LeakProbe;
import io.fibry.testing.Promise;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

class TopicLeakTest {
  private static final int ITERATIONS = Soak.ON ? 50_000 : 10_000;
  // the permitted growth, which is less than the size of any leaked object
  private static final long BYTES_PER_ITERATION = 20;

  private final Actor<Object> desk = ActorSystem.anonymous().newActor((Object m) -> {});

  @Promise("21.3")
  @Test
  void closedSubscriptionsLeaveNoMemoryAtLivingActor() {
    Topic<Object> topic = Topic.open(ActorSystem.anonymous());
    subscribeAndUnsubscribe(topic, 1_000);

    LeakProbe.assertLeavesAtMost(BYTES_PER_ITERATION * ITERATIONS, () -> subscribeAndUnsubscribe(topic, ITERATIONS));

    topic.close();
  }

  private void subscribeAndUnsubscribe(Topic<Object> topic, int times) {
    for (int i = 0; i < times; i++) {
      topic.subscribe(desk).close();
      topic.subscribeOn(desk, m -> {}).close();
    }
  }

  @Promise("21.3")
  @Test
  void endedActorsLeaveNoMemoryAtLivingTopic() {
    Topic<Object> topic = Topic.open(ActorSystem.anonymous().strategy(Strategy.CALLER));
    subscribeAndEndActors(topic, 1_000);

    LeakProbe.assertLeavesAtMost(BYTES_PER_ITERATION * ITERATIONS, () -> subscribeAndEndActors(topic, ITERATIONS));

    topic.close();
  }

  private static void subscribeAndEndActors(Topic<Object> topic, int times) {
    for (int i = 0; i < times; i++) {
      var actor = ActorSystem.anonymous().strategy(Strategy.CALLER).newActor((Object m) -> {});
      topic.subscribe(actor);
      actor.close();
      topic.subscribeToLatest(m -> {}).close();
    }
  }

  @Test
  void endedSubscriberActorsAreGarbageBeforeNextPublish() {
    Topic<Object> topic = Topic.open(ActorSystem.named("leak").protocol(Object.class));
    var probes = new ArrayList<WeakReference<?>>();
    for (int i = 1; i <= 10; i++) probes.add(endedSubscriber(topic, "leak/" + i));

    assertTrue(LeakProbe.collected(probes));
    topic.close();
  }

  private static WeakReference<?> endedSubscriber(Topic<Object> topic, String name) {
    var handler = new Marker();
    topic.subscribeToLatest(m -> handler.mark());
    ActorSystem.find(name, Object.class).orElseThrow().close();
    return new WeakReference<>(handler);
  }

  @Test
  void endedTopicIsGarbageWhileSubscriberLives() {
    var probes = new ArrayList<WeakReference<?>>();
    for (int i = 0; i < 10; i++) probes.add(endedTopic());

    assertTrue(LeakProbe.collected(probes));
    assertFalse(desk.onExit().isDone());
  }

  private WeakReference<?> endedTopic() {
    Topic<Object> topic = Topic.open(ActorSystem.anonymous());
    topic.subscribe(desk);
    topic.subscribeToLatest(m -> {});
    topic.close();
    return new WeakReference<>(topic);
  }

  @Test
  void endedTopicsLeaveNoMemoryAtLivingActor() {
    subscribeAndCloseTopics(1_000);

    LeakProbe.assertLeavesAtMost(BYTES_PER_ITERATION * ITERATIONS, () -> subscribeAndCloseTopics(ITERATIONS));
  }

  private void subscribeAndCloseTopics(int times) {
    for (int i = 0; i < times; i++) {
      Topic<Object> topic = Topic.open(ActorSystem.anonymous());
      topic.subscribe(desk);
      topic.close();
    }
  }

  @Test
  void unreferencedTopicIsGarbageWhileSubscriberLives() {
    var probes = new ArrayList<WeakReference<?>>();
    for (int i = 0; i < 10; i++) probes.addAll(unreferencedTopic());

    assertTrue(LeakProbe.collected(probes));
    assertFalse(desk.onExit().isDone());
  }

  private List<WeakReference<?>> unreferencedTopic() {
    Topic<Object> topic = Topic.open(ActorSystem.anonymous());
    var handler = new Marker();
    var handled = new CountDownLatch(1);
    topic.subscribe(desk);
    topic.subscribeToLatest(m -> handled.countDown());
    topic.subscribeToLatest(m -> handler.mark());
    topic.publish(1);
    Patience.await(handled);
    return List.of(new WeakReference<>(topic), new WeakReference<>(handler));
  }

  @Promise("21.3")
  @Test
  void openingTopicRemovesUnreferencedTopicsFromLivingActor() {
    subscribeUnreferencedTopics(1_000);

    LeakProbe.assertLeavesAtMost(BYTES_PER_ITERATION * ITERATIONS, () -> subscribeUnreferencedTopics(ITERATIONS),
        TopicLeakTest::removeUnreferencedTopics);

    assertFalse(desk.onExit().isDone());
  }

  private void subscribeUnreferencedTopics(int times) {
    for (int i = 0; i < times; i++) {
      Topic<Object> topic = Topic.open(ActorSystem.anonymous());
      topic.subscribe(desk);
      topic.subscribeOn(desk, m -> {});
    }
  }

  /**
   * Runs a garbage collection and creates a topic. This removes the unreferenced topics that the
   * collection has found.
   */
  private static void removeUnreferencedTopics() {
    System.gc();
    Topic.open(ActorSystem.anonymous());
  }

  @Test
  void unreferencedObservableIsGarbageWithItsFollowers() {
    var probes = new ArrayList<WeakReference<?>>();
    for (int i = 0; i < 10; i++) probes.addAll(unreferencedValues());

    assertTrue(LeakProbe.collected(probes));
  }

  private static List<WeakReference<?>> unreferencedValues() {
    var handled = new CountDownLatch(3);
    var value = ObservableValue.of(ActorSystem.anonymous(), 0);
    ObservableMap<String, Integer> map = ObservableMap.of(ActorSystem.anonymous());
    var follower = new Marker();
    value.subscribe(current -> handled.countDown());
    value.subscribe(current -> follower.mark());
    map.subscribe(change -> handled.countDown());
    map.subscribe("a", current -> handled.countDown());
    map.put("a", 1);
    Patience.await(handled);
    return List.of(new WeakReference<>(value), new WeakReference<>(map), new WeakReference<>(follower));
  }

  @Test
  void closedFollowersLeaveNoMemoryAtLivingObservable() {
    var value = ObservableValue.of(ActorSystem.anonymous().strategy(Strategy.CALLER), 0);
    ObservableMap<Integer, Integer> map = ObservableMap.of(ActorSystem.anonymous().strategy(Strategy.CALLER));
    follow(value, map, 1_000);

    LeakProbe.assertLeavesAtMost(BYTES_PER_ITERATION * ITERATIONS, () -> follow(value, map, ITERATIONS));
  }

  private static void follow(ObservableValue<Integer> value, ObservableMap<Integer, Integer> map, int times) {
    for (int i = 0; i < times; i++) {
      value.subscribe(current -> {}).close();
      map.subscribe(i, current -> {}).close();
      map.subscribe(change -> {}).close();
      map.put(i, i);
      map.remove(i);
    }
  }

  private static final class Marker {
    private volatile boolean marked;

    void mark() {
      marked = true;
    }

    @Override
    public String toString() {
      return "marked: " + marked;
    }
  }
}
