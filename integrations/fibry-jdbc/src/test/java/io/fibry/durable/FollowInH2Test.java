package io.fibry.durable;

class FollowInH2Test extends FollowContract {
  FollowInH2Test() {
    super(InDatabases.h2());
  }
}
