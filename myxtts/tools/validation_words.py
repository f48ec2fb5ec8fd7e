"""Sections, checks and verdict of the validation, and of settings, in English and Persian.

A check whose name holds a device or a size has no entry and stands for itself; so do the details,
which are names and numbers.
"""

from __future__ import annotations

from myxtts.tools.catalogue import Language

_PERSIAN = {
    "Prerequisites": "پیش‌نیازها",
    "Device placement": "جای‌گذاری روی دستگاه‌ها",
    "Model on the model device": "مدل روی دستگاه مدل",
    "Data between the devices": "داده میان دستگاه‌ها",
    "A short run of the pipeline": "اجرای کوتاهی از خط لوله",
    "NVIDIA driver": "درایور NVIDIA",
    "GPUs": "GPUها",
    "GPUs seen by TensorFlow": "GPUهایی که TensorFlow می‌بیند",
    "virtual GPUs": "GPUهای مجازی",
    "topology": "هم‌بندی",
    "two devices": "دو دستگاه",
    "indices": "شماره‌ها",
    "visible devices": "دستگاه‌های دیدنی",
    "device policy": "سیاست دستگاه‌ها",
    "memory policy": "سیاست حافظه",
    "device plan": "نقشهٔ دستگاه‌ها",
    "refused": "پذیرفته نشد",
    "goes through": "تا پایان می‌رود",
    "weights": "وزن‌ها",
    "forward pass": "گذر رو به جلو",
    "computed there": "همان‌جا محاسبه شد",
    "batches": "دسته‌ها",
    "placement": "جای‌گذاری",
    "content": "محتوا",
    "training": "آموزش",
    "not reached": "نرسیده",
    "verdict": "حکم",
    "the two-device pipeline works here": "خط لولهٔ دودستگاهی اینجا کار می‌کند",
    "NOT ready": "آماده نیست",
    "wanted": "خواسته",
    "left alone": "دست‌نخورده",
    "good": "درست است",
    "1. Machine and GPUs": "۱. ماشین و GPUها",
    "2. TensorFlow settings": "۲. تنظیم‌های TensorFlow",
    "3. Configuration": "۳. پیکربندی",
    "4. Data pipeline": "۴. مسیر داده",
    "5. A short run, GPUs watched": "۵. اجرایی کوتاه با تماشای GPUها",
    "6. Recommendations, the largest gain first": "۶. پیشنهادها، بیشترین سود نخست",
    "not measured": "سنجیده نشد",
}


def said(text: str, language: Language = "en") -> str:
    """A heading, the name of a check or a verdict; what has no entry stands for itself."""
    return _PERSIAN.get(text, text) if language == "fa" else text
