package io.fibry.durable;

class FollowInAFolderTest extends FollowContract {
  FollowInAFolderTest() {
    super(Folders::new);
  }
}
