package io.fibry.durable;

class ClockSkewInFolderTest extends ClockSkewContract {
  ClockSkewInFolderTest() {
    super(Folders::new);
  }
}
