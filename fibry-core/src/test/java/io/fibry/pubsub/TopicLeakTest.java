package io.fibry.pubsub;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ActorSystem;
import io.fibry.LeakProbe;
import io.fibry.Promise;
import io.fibry.Strategy;
import io.fibry.support.Patience;
import io.fibry.support.Soak;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

class TopicLeakTest {
  private static final int TIMES = Soak.ON ? 50_000 : 10_000;
  private static final long EACH = 20; // bytes, at most: an object that is left has more

  private final Actor<Object> desk = ActorSystem.anonymous().newActor((Object m) -> {});

  @Promise("21.3")
  @Test
  void placesThatWereClosedLeaveNothingAtALivingActor() {
    Topic<Object> topic = Topic.open(ActorSystem.anonymous());
    subscribeAndLeave(topic, 1_000);

    LeakProbe.assertLeavesAtMost(EACH * TIMES, () -> subscribeAndLeave(topic, TIMES));

    topic.close();
  }

  private void subscribeAndLeave(Topic<Object> topic, int times) {
    for (int i = 0; i < times; i++) {
      topic.subscribe(desk).close();
      topic.subscribeOn(desk, m -> {}).close();
    }
  }

  @Promise("21.3")
  @Test
  void actorsThatEndedLeaveNothingAtALivingTopic() {
    Topic<Object> topic = Topic.open(ActorSystem.anonymous().strategy(Strategy.CALLER));
    subscribeAndEnd(topic, 1_000);

    LeakProbe.assertLeavesAtMost(EACH * TIMES, () -> subscribeAndEnd(topic, TIMES));

    topic.close();
  }

  private static void subscribeAndEnd(Topic<Object> topic, int times) {
    for (int i = 0; i < times; i++) {
      var actor = ActorSystem.anonymous().strategy(Strategy.CALLER).newActor((Object m) -> {});
      topic.subscribe(actor);
      actor.close();
      topic.subscribeToLatest(m -> {}).close();
    }
  }

  @Test
  void endedTopicActorsLeaveNothingEvenWithoutPublish() {
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
  void aTopicThatEndedIsForgottenByALivingSubscriber() {
    var probes = new ArrayList<WeakReference<?>>();
    for (int i = 0; i < 10; i++) probes.add(ended());

    assertTrue(LeakProbe.collected(probes));
    assertFalse(desk.onExit().isDone());
  }

  private WeakReference<?> ended() {
    Topic<Object> topic = Topic.open(ActorSystem.anonymous());
    topic.subscribe(desk);
    topic.subscribeToLatest(m -> {});
    topic.close();
    return new WeakReference<>(topic);
  }

  @Test
  void topicsThatEndedLeaveNothingAtALivingActor() {
    subscribeAndClose(1_000);

    LeakProbe.assertLeavesAtMost(EACH * TIMES, () -> subscribeAndClose(TIMES));
  }

  private void subscribeAndClose(int times) {
    for (int i = 0; i < times; i++) {
      Topic<Object> topic = Topic.open(ActorSystem.anonymous());
      topic.subscribe(desk);
      topic.close();
    }
  }

  @Test
  void unknownTopicAndItsActorsAreGarbageWhileSubscriberLives() {
    var probes = new ArrayList<WeakReference<?>>();
    for (int i = 0; i < 10; i++) probes.addAll(forgotten());

    assertTrue(LeakProbe.collected(probes));
    assertFalse(desk.onExit().isDone());
  }

  private List<WeakReference<?>> forgotten() {
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
  void unknownTopicsLeaveNothingAtLivingActorOnceNextTopicIsMade() {
    subscribeAndForget(1_000);

    LeakProbe.assertLeavesAtMost(EACH * TIMES, () -> subscribeAndForget(TIMES), TopicLeakTest::sweep);

    assertFalse(desk.onExit().isDone());
  }

  private void subscribeAndForget(int times) {
    for (int i = 0; i < times; i++) {
      Topic<Object> topic = Topic.open(ActorSystem.anonymous());
      topic.subscribe(desk);
      topic.subscribeOn(desk, m -> {});
    }
  }

  /** Making a topic removes the forgotten topics that a collection has found. */
  private static void sweep() {
    System.gc();
    Topic.open(ActorSystem.anonymous());
  }

  @Test
  void aSharedValueThatNobodyKnowsIsGarbageWithItsFollowers() {
    var probes = new ArrayList<WeakReference<?>>();
    for (int i = 0; i < 10; i++) probes.addAll(values());

    assertTrue(LeakProbe.collected(probes));
  }

  private static List<WeakReference<?>> values() {
    var handled = new CountDownLatch(3);
    var value = ObservableValue.of(ActorSystem.anonymous(), 0);
    ObservableMap<String, Integer> map = ObservableMap.of(ActorSystem.anonymous());
    var follower = new Marker();
    value.subscribe(now -> handled.countDown());
    value.subscribe(now -> follower.mark());
    map.subscribe(change -> handled.countDown());
    map.subscribe("a", now -> handled.countDown());
    map.put("a", 1);
    Patience.await(handled);
    return List.of(new WeakReference<>(value), new WeakReference<>(map), new WeakReference<>(follower));
  }

  @Test
  void followersThatLeftLeaveNothing() {
    var value = ObservableValue.of(ActorSystem.anonymous().strategy(Strategy.CALLER), 0);
    ObservableMap<Integer, Integer> map = ObservableMap.of(ActorSystem.anonymous().strategy(Strategy.CALLER));
    followAndLeave(value, map, 1_000);

    LeakProbe.assertLeavesAtMost(EACH * TIMES, () -> followAndLeave(value, map, TIMES));
  }

  private static void followAndLeave(ObservableValue<Integer> value, ObservableMap<Integer, Integer> map, int times) {
    for (int i = 0; i < times; i++) {
      value.subscribe(now -> {}).close();
      map.subscribe(i, now -> {}).close();
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
